package release

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
)

// Signer signs ClusterReleases.
type Signer struct {
	KeyFile    string // empty: that of UserKey
	Name       string // of the ClusterRelease; empty: kubernetes-VERSION
	Passphrase Passphrase
}

// SignFile signs the payload in a file, or on standard input.
func (s *Signer) SignFile(ctx context.Context, file string, readFile func(name string) ([]byte, error)) ([]byte, error) {
	raw, err := readFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the content of the ClusterRelease: %w", err)
	}
	signed, err := s.Sign(ctx, file, raw)
	if err != nil {
		return nil, err
	}
	return signed.YAML()
}

// Signed is a signed ClusterRelease with the charts of its components.
type Signed struct {
	*cliv1alpha1.ReleaseManifest
	Charts [][]byte `json:"-"`
}

// YAML returns the objects for `kubectl apply`: the charts first, so that none is missing when the
// ClusterRelease is read.
func (s *Signed) YAML() ([]byte, error) {
	var out bytes.Buffer
	for _, archive := range s.Charts {
		object, err := charts.ConfigMap(archive)
		if err != nil {
			return nil, err
		}
		text, err := document.YAML(object)
		if err != nil {
			return nil, err
		}
		out.Write(text)
		out.WriteString("---\n")
	}
	text, err := document.YAML(s.ReleaseManifest)
	out.Write(text)
	return out.Bytes(), err
}

// Sign signs the payload in a file of this name and returns the ClusterRelease object.
func (s *Signer) Sign(ctx context.Context, file string, raw []byte) (*Signed, error) {
	if signed, err := Read(file, raw); err == nil && signed.envelope != nil {
		return nil, fmt.Errorf("cannot sign %s: it is signed already. Use the output of `refit release create`", file)
	}
	c, err := parseContent(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot sign %s: %w", file, err)
	}
	payload := c.payload
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
	spec := refitv1alpha1.ClusterReleaseSpec{Kubernetes: payload.Kubernetes}
	if spec.Envelope, err = artifact.Sign(c.encoded, key); err != nil {
		return nil, err
	}
	if len(c.components.Components) > 0 {
		if spec.Components, err = artifact.SignComponents(c.components, key); err != nil {
			return nil, err
		}
	}
	return &Signed{cliv1alpha1.NewReleaseManifest(name, spec), sortedCharts(c.charts)}, nil
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
