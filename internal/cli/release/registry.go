package release

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/artifact/oci"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Registry exchanges signed ClusterReleases with a registry, which it does not trust.
type Registry struct {
	oci.Registry

	KeyFiles []string // public keys; empty: those of UserKeys
	// Fingerprints are those of trusted keys that the repository has itself.
	Fingerprints []string
	Name         string // of a ClusterRelease that is pulled; empty: kubernetes-VERSION
	Log          io.Writer
}

// Push stores the ClusterRelease in a file, and the public key that signed it. It returns the
// address, with the digest, and refuses what none of the keys signed.
func (r *Registry) Push(ctx context.Context, file string, readFile func(name string) ([]byte, error), address string) (string, error) {
	to, err := oci.Parse(address)
	if err != nil {
		return "", exit.AsUsage(err)
	}
	if !to.IsRepository() && to.Tag() == "" {
		return "", exit.Usagef("%s has a digest, which follows from the content: use a tag, or none for the version of Kubernetes", to)
	}
	keys, err := r.keys(ctx, to)
	if err != nil {
		return "", err
	}
	loaded, err := Load(file, readFile)
	if err != nil {
		return "", err
	}
	content, err := loaded.Verify(keys)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	version := content.Payload.Kubernetes
	if to.IsRepository() {
		if to, err = to.Tagged(version); err != nil {
			return "", err
		}
	}
	if err := agreesWithTag(to, version); err != nil {
		return "", exit.AsUsage(err)
	}
	name := cmp.Or(loaded.Name, defaultName(version))
	text, err := document.YAML(loaded.manifest(name, version))
	if err != nil {
		return "", err
	}
	signer := keys[slices.IndexFunc(keys, func(k artifact.PublicKey) bool { return k.ID == content.KeyID })]
	if err := r.PushKey(ctx, to, signer); err != nil {
		return "", late(err)
	}
	digest, err := r.PushRelease(ctx, to, oci.Document{Title: titleOf(name), Version: version, Text: text, Charts: sortedCharts(loaded.charts)})
	if errors.Is(err, oci.ErrExists) {
		err = fmt.Errorf("%w. A ClusterRelease is immutable: choose another tag", err)
	}
	if err != nil {
		return "", late(err)
	}
	fmt.Fprintf(r.Log, "Pushed ClusterRelease %s of Kubernetes %s%s, signed by %s\n", name, version, withCharts(loaded.charts), content.KeyID)
	return strings.TrimSuffix(to.String(), ":"+to.Tag()) + "@" + digest, nil // Pull accepts it
}

// Pull returns a ClusterRelease that one of the keys signed, as YAML. Only what is signed comes
// from the registry, and the name, which must be the expected one.
func (r *Registry) Pull(ctx context.Context, address string) ([]byte, error) {
	from, err := oci.Parse(address)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	if from.IsRepository() {
		return nil, exit.Usagef("%s has neither a tag nor a digest, such as :v1.36.3", from)
	}
	keys, err := r.keys(ctx, from)
	if err != nil {
		return nil, err
	}
	found, digest, err := r.PullRelease(ctx, from)
	if err != nil {
		return nil, late(err)
	}
	file, err := Read("its layer", found.Text)
	if err != nil {
		return nil, fmt.Errorf("cannot pull %s: %w", from, errors.Unwrap(err)) // not the user's mistake
	}
	file.charts = map[string][]byte{}
	for _, archive := range found.Charts {
		file.charts[charts.Identify(archive).Digest] = archive
	}
	content, err := file.Verify(keys)
	if err != nil {
		return nil, fmt.Errorf("cannot pull %s: %w", from, err)
	}
	version := content.Payload.Kubernetes
	name := cmp.Or(r.Name, defaultName(version))
	if err := cmp.Or(agreesWithTag(from, version), file.isNamed(name), describes(found, name, version)); err != nil {
		return nil, fmt.Errorf("cannot pull %s: %w", from, err)
	}
	signed := &Signed{file.manifest(name, version), sortedCharts(file.charts)}
	text, err := document.YAML(signed.ReleaseManifest)
	if err != nil {
		return nil, err
	}
	if !sameFields(found.Text, text) {
		return nil, fmt.Errorf("cannot pull %s: it has fields that are not signed", from)
	}
	fmt.Fprintf(r.Log, "Pulled ClusterRelease %s of Kubernetes %s%s, signed by %s (trusted), digest %s\n",
		name, version, withCharts(file.charts), content.KeyID, digest)
	return signed.YAML()
}

func withCharts(archives map[string][]byte) string {
	if len(archives) == 0 {
		return ""
	}
	return " with " + phrase.Count(len(archives), "chart")
}

// sameFields reports whether two YAML documents have the same fields.
func sameFields(a, b []byte) bool {
	first, err := yaml.YAMLToJSONStrict(a)
	if err != nil {
		return false
	}
	second, err := yaml.YAMLToJSONStrict(b)
	return err == nil && bytes.Equal(first, second)
}

// PullTo writes the ClusterRelease to a file, once it is verified, or prints it if there is none.
func (r *Registry) PullTo(ctx context.Context, file, address string, write func([]byte) error) error {
	text, err := r.Pull(ctx, address)
	if err != nil {
		return err
	}
	if file == "" {
		return write(text)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("cannot write the ClusterRelease: %w", err)
	}
	return nil
}

// keys returns the keys that the user trusts.
func (r *Registry) keys(ctx context.Context, at oci.Reference) ([]artifact.PublicKey, error) {
	files := r.KeyFiles
	if len(files) == 0 && len(r.Fingerprints) == 0 {
		var err error
		if files, err = UserKeys(); err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, exit.Usagef("--key is required: a public key that you trust; \"pull\" also accepts its --fingerprint")
		}
	}
	keys, err := ReadPublicKeys(files)
	if err != nil {
		return nil, err
	}
	for _, fingerprint := range r.Fingerprints {
		if err := artifact.CheckFingerprint(fingerprint); err != nil {
			return nil, exit.Usagef("--fingerprint: %w", err)
		}
		key, err := r.Key(ctx, at, fingerprint)
		if err != nil {
			return nil, late(err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// agreesWithTag returns an error if the tag is another version: a registry must not answer with an
// older ClusterRelease.
func agreesWithTag(at oci.Reference, version string) error {
	if tagged, err := request.ParseVersion(at.Tag()); err == nil && tagged != version {
		return fmt.Errorf("the tag is %s, but the ClusterRelease is of Kubernetes %s", at.Tag(), version)
	}
	return nil
}

// describes returns an error if the annotations of an artifact are not about its content.
func describes(d oci.Document, name, version string) error {
	if d.Title != titleOf(name) || d.Version != version {
		return fmt.Errorf("its annotations name %q of Kubernetes %q, not %q of %q", d.Title, d.Version, titleOf(name), version)
	}
	return nil
}

// isNamed returns an error if the object has another name, which is not signed.
func (r *File) isNamed(name string) error {
	switch {
	case r.Name == name:
		return nil
	case !validName(r.Name):
		return errors.New("it is not a ClusterRelease object with a valid name")
	}
	return fmt.Errorf("it is named %s, not %s, and a name is not signed. To accept it, pass --name %s", r.Name, name, r.Name)
}

// manifest returns the object of a signed ClusterRelease, with nothing that is not signed except
// its name.
func (r *File) manifest(name, version string) *cliv1alpha1.ReleaseManifest {
	return cliv1alpha1.NewReleaseManifest(name, refitv1alpha1.ClusterReleaseSpec{Kubernetes: version, Envelope: r.envelope, Components: r.components})
}

func titleOf(name string) string { return name + ".yaml" }

func defaultName(version string) string { return "kubernetes-" + version }

// validName reports whether a ClusterRelease may have this name.
func validName(name string) bool {
	return len(validation.IsDNS1123Subdomain(name)) == 0 && len(name) <= validation.DNS1123LabelMaxLength
}

func late(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return exit.TimeoutError{Err: err}
	}
	return err
}
