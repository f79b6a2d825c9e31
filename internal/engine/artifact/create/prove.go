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

// prove proves content by a signature, unless the user has accepted its digest.
func (m *builder) prove(ctx context.Context, content, digest string, by func(upstream.Sigstore) error) error {
	if slices.ContainsFunc(m.Online.AcceptDigests, func(accepted string) bool { return strings.EqualFold(accepted, digest) }) {
		m.warn("no signature proves %s: you accepted its digest %s", content, digest)
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
	return fmt.Errorf("%w. Use a source with signatures. If it has none, compare the digest with one from a source that you trust, and accept it: "+
		"`refit release create` and `refit release add` have the flag --accept-digest %s", err, digest)
}
