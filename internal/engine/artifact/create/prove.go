package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
)

// proveBinary fails unless upstream has signed a binary, or the user has accepted its digest.
func (m *builder) proveBinary(ctx context.Context, address, digest string) error {
	return m.prove(ctx, address, digest, func(by upstream.Sigstore) error { return by.Binary(ctx, address, digest) })
}

// proveImage fails unless upstream has signed an image, or the user has accepted its digest. All
// platforms of an image have the same signature.
func (m *builder) proveImage(ctx context.Context, r *registry, name, image, digest string) error {
	key := image + "@" + digest
	if m.proven[key] {
		return nil
	}
	repository, _ := r.split(image)
	fetch := func(ctx context.Context, kind, reference string, limit int64) ([]byte, error) {
		return r.get(ctx, repository, kind, reference, limit)
	}
	err := m.prove(ctx, image, digest, func(by upstream.Sigstore) error { return by.Image(ctx, upstreamName(name), digest, fetch) })
	m.proven[key] = err == nil
	return err
}

// proveUnsigned fails unless the digest of a file without a signature that Refit verifies is
// compiled into Refit, or the user has accepted it. The name is that of the file in the list of
// digests.
func (m *builder) proveUnsigned(name, address, digest string) error {
	known, ok := m.known()[name]
	if ok && known != digest {
		return fmt.Errorf("%s has the digest %s, but upstream's %s has %s. Use another source", address, digest, name, known)
	}
	if ok || m.accepts(address, digest) {
		return nil
	}
	return &unconfirmedError{content: address, digest: digest}
}

// accepts reports whether the user has accepted a digest.
func (m *builder) accepts(content, digest string) bool {
	accepted := slices.ContainsFunc(m.Online.AcceptDigests, func(accepted string) bool { return strings.EqualFold(accepted, digest) })
	if accepted {
		m.warn("no signature proves %s: you accepted its digest %s", content, digest)
	}
	return accepted
}

// unconfirmedError is content without a proof, which the user can accept.
type unconfirmedError struct{ content, digest string }

func (e *unconfirmedError) Error() string {
	return fmt.Sprintf("no signature proves %s (%s)", e.content, e.digest)
}

// later reports whether an error is content that the user can accept. It remembers the content, so
// that online reports all of it at once.
func (m *builder) later(err error) bool {
	unconfirmed, ok := errors.AsType[*unconfirmedError](err)
	if ok && !slices.Contains(m.unconfirmed, *unconfirmed) {
		m.unconfirmed = append(m.unconfirmed, *unconfirmed)
	}
	return ok
}

// checkConfirmed fails with everything that the user would have to accept.
func (m *builder) checkConfirmed() error {
	if len(m.unconfirmed) == 0 {
		return nil
	}
	var contents, flags []string
	for _, each := range m.unconfirmed {
		contents = append(contents, "\n  "+each.digest+"  "+each.content)
		if flag := "--accept-digest " + each.digest; !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	return fmt.Errorf("no signature proves:%s\nUse a source with signatures. If there is none, compare each digest with one from a source that you trust. "+
		"To accept them all, add to `refit release create` or `refit release add`:\n  %s", strings.Join(contents, ""), strings.Join(flags, " \\\n  "))
}

// prove proves content by a signature, unless the user has accepted its digest.
func (m *builder) prove(ctx context.Context, content, digest string, by func(upstream.Sigstore) error) error {
	if m.accepts(content, digest) {
		return nil
	}
	sigstore := m.Online.Sigstore
	sigstore.Web = m.web()
	err := by(sigstore)
	if err == nil || ctx.Err() != nil {
		return err
	}
	switch unproven, ok := errors.AsType[*upstream.UnprovenError](err); {
	case !ok: // such as a timeout, which is no reason to accept a digest
		return err
	case !unproven.Missing:
		return fmt.Errorf("%w. Use another source: this one has other content than upstream, or damaged signatures", err)
	}
	return &unconfirmedError{content: content, digest: digest}
}
