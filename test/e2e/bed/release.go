package bed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// Release is a ClusterRelease in the cluster.
type Release struct {
	Ref     refitv1alpha1.ReleaseRef
	Payload refitv1alpha1.ReleasePayload
	Parts   builder.Release
}

// CreateRelease creates the ClusterRelease of a version with the CLI (`refit release create` from a
// folder, then `sign`) and applies it. The servers offer its files from then on.
func (b *Bed) CreateRelease(t *testing.T, version string) *Release {
	t.Helper()
	if r := b.releases[version]; r != nil {
		return r
	}
	r := b.createRelease(t, "kubernetes-"+version, version, filepath.Join(b.Dir, version), nil)
	b.releases[version] = r
	return r
}

// CreateComponentsRelease is CreateRelease with components of a file, whose images are in these
// archives.
func (b *Bed) CreateComponentsRelease(t *testing.T, version, components string, archives ...string) *Release {
	t.Helper()
	return b.CreateNamedRelease(t, "kubernetes-"+version, version, components, archives...)
}

// CreateNamedRelease is CreateComponentsRelease with the name of the ClusterRelease.
func (b *Bed) CreateNamedRelease(t *testing.T, name, version, components string, archives ...string) *Release {
	t.Helper()
	dir := filepath.Join(b.Dir, name+"-components")
	Must(t, os.Mkdir(dir, 0o755))
	for i, archive := range archives {
		content, err := os.ReadFile(archive)
		Must(t, err)
		Must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("component-%d.tar", i)), content, 0o644))
	}
	return b.createRelease(t, name, version, dir, []string{"--components", components})
}

func (b *Bed) createRelease(t *testing.T, name, version, dir string, flags []string) *Release {
	t.Helper()
	parts, err := b.Release(t.Context(), version)
	Must(t, err)
	Must(t, parts.Collect(dir))
	file := dir + ".json"
	// CNI plugins do not report their version, so it is a flag.
	argv := []string{"release", "create", "--from", dir, "--kubernetes", version, "--cni-plugins", versions.CNIPlugins}
	Must(t, os.WriteFile(file, Run(t, b.Refit, append(argv, flags...)...), 0o644))
	manifest := Run(t, b.Refit, "release", "sign", file, "--key", b.Key.Private, "--name", name)
	_, err = b.Kubectl(t.Context(), bytes.NewReader(manifest), "apply", "--server-side", "--filename=-")
	Must(t, err)
	documents := bytes.Split(manifest, []byte("\n---\n")) // charts precede the ClusterRelease
	r := &Release{Parts: parts}
	Must(t, r.read(documents[len(documents)-1]))
	b.offer(dir, r.Payload)
	return r
}

// AddRelease adds the ClusterRelease of a version with `refit release add` and flags that say where
// its content is.
func (s *Site) AddRelease(t *testing.T, version string, flags ...string) *Release {
	t.Helper()
	parts, err := s.Release(t.Context(), version)
	Must(t, err)
	s.RunRefit(t, append([]string{"release", "add", version, "--key", s.Key.Private, "--yes"}, flags...)...)
	manifest, err := s.Kubectl(t.Context(), nil, "get", "clusterrelease", "kubernetes-"+version, "-o", "yaml")
	Must(t, err)
	r := &Release{Parts: parts}
	Must(t, r.read(manifest))
	s.releases[version] = r
	return r
}

// read takes the values that an order needs from a ClusterRelease's manifest.
func (r *Release) read(manifest []byte) error {
	var object refitv1alpha1.ClusterRelease
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return err
	}
	var envelope struct {
		Payload []byte `json:"payload"`
	}
	if err := json.Unmarshal(object.Spec.Envelope, &envelope); err != nil {
		return err
	}
	r.Ref = refitv1alpha1.ReleaseRef{Name: object.Name, Digest: DigestOf(envelope.Payload)}
	return json.Unmarshal(envelope.Payload, &r.Payload)
}

// DigestOf returns the digest of content in the format that ClusterReleases use.
func DigestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// offer adds the files of a payload to both servers.
func (b *Bed) offer(dir string, p refitv1alpha1.ReleasePayload) {
	for _, s := range []*Server{b.Server, b.Second} {
		for _, f := range p.Files {
			s.Add(f.Digest, filepath.Join(dir, f.Path))
		}
		for _, i := range p.Images {
			if i.Archive != nil {
				s.Add(i.Archive.Digest, filepath.Join(dir, i.Archive.Path))
			}
		}
	}
}
