package release

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// Signer signs ClusterReleases.
type Signer struct {
	KeyFile    string // empty: that of UserKey
	Name       string // of the ClusterRelease; empty: kubernetes-VERSION
	Passphrase Passphrase
}

// SignFile signs the payload in a file, or on standard input.
func (s *Signer) SignFile(ctx context.Context, file string, readFile func(name string) ([]byte, error)) (*cliv1alpha1.ReleaseManifest, error) {
	raw, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the content of the ClusterRelease: %w", err)
	}
	return s.Sign(ctx, file, raw)
}

// Sign signs the payload in a file of this name and returns the ClusterRelease object.
func (s *Signer) Sign(ctx context.Context, file string, raw []byte) (*cliv1alpha1.ReleaseManifest, error) {
	if signed, err := Read(file, raw); err == nil && signed.envelope != nil {
		return nil, fmt.Errorf("cannot sign %s: it is signed already. Use the output of `refit release create`", file)
	}
	payload, err := artifact.ParsePayload(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot sign %s: %w", file, err)
	}
	if len(payload.Files) == 0 {
		return nil, fmt.Errorf("cannot sign %s: it has no files, so no host could install it. Create it with `refit release create`", file)
	}
	name := s.nameOf(&payload)
	if !validName(name) {
		return nil, exit.Usagef("--name: %q is not a valid name. Use at most 63 lower case letters, digits, dots and dashes", name)
	}
	path, err := s.key()
	if err != nil {
		return nil, err
	}
	key, err := readPrivateKey(ctx, path, s.Passphrase)
	if err != nil {
		return nil, err
	}
	compact, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the ClusterRelease: %w", err)
	}
	envelope, err := artifact.Sign(compact, key)
	if err != nil {
		return nil, err
	}
	return cliv1alpha1.NewReleaseManifest(name, refitv1alpha1.ClusterReleaseSpec{Kubernetes: payload.Kubernetes, Envelope: envelope}), nil
}

// nameOf returns the name of the ClusterRelease with this content.
func (s *Signer) nameOf(payload *refitv1alpha1.ReleasePayload) string {
	return cmp.Or(s.Name, defaultName(payload.Kubernetes))
}

// key returns the file of the private key, which must exist.
func (s *Signer) key() (string, error) {
	if s.KeyFile != "" {
		return s.KeyFile, nil
	}
	path, err := UserKey()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", exit.Usagef("there is no key in %s yet: create it with `refit release key create`, or name another one with --key", path)
	}
	return path, nil
}
