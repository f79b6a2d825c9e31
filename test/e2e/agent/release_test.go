//go:build e2e

package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// release is a Release in the cluster.
type release struct {
	ref     refitv1alpha1.ReleaseRef
	payload refitv1alpha1.ReleasePayload
	parts   builder.Release
}

// release makes the Release of a version as a person does: `refit release create` from a folder, then `sign`. Its files are on the server from then on.
func (b *bed) release(t *testing.T, version string) *release {
	t.Helper()
	if r := b.releases[version]; r != nil {
		return r
	}
	dir, file := filepath.Join(b.dir, version), filepath.Join(b.dir, version+".json")
	parts, err := b.Release(t.Context(), version)
	must(t, err)
	must(t, os.Mkdir(dir, 0o755))
	must(t, gather(parts, dir))
	// CNI plugins do not say their version, so a person does.
	must(t, os.WriteFile(file, run(t, b.refit, "release", "create", "--from", dir, "--kubernetes", version, "--cni-plugins", versions.CNIPlugins), 0o644))
	manifest := run(t, b.refit, "release", "sign", file, "--key", b.key.private)
	_, err = b.Kubectl(t.Context(), strings.NewReader(string(manifest)), "apply", "--server-side", "--filename=-")
	must(t, err)
	r := &release{parts: parts}
	must(t, r.read(manifest))
	b.offer(dir, r.payload)
	b.releases[version] = r
	return r
}

// read takes what an order needs to know from a Release's manifest.
func (r *release) read(manifest []byte) error {
	var object refitv1alpha1.Release
	if err := yaml.Unmarshal(manifest, &object); err != nil {
		return err
	}
	var envelope struct {
		Payload []byte `json:"payload"`
	}
	if err := json.Unmarshal(object.Spec.Envelope, &envelope); err != nil {
		return err
	}
	r.ref = refitv1alpha1.ReleaseRef{Name: object.Name, Digest: digestOf(envelope.Payload)}
	return json.Unmarshal(envelope.Payload, &r.payload)
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// gather lays the programs, packages and images of a version into a folder, as somebody would who fills a mirror.
func gather(parts builder.Release, dir string) error {
	var from []string
	for _, folder := range []string{parts.ContainerdBin, parts.CNIBin} {
		found, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			return err
		}
		from = append(from, found...)
	}
	for _, program := range []string{"kubeadm", "kubelet", "kubectl"} {
		from = append(from, filepath.Join(parts.Bin, program))
	}
	pool := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(parts.Bin))), "apt", "pool")
	for _, name := range []string{
		"kubeadm_" + parts.PackageVersion(), "kubelet_" + parts.PackageVersion(), "kubectl_" + parts.PackageVersion(), "containerd_2.4.2-1", "kubernetes-cni_*",
	} {
		found, err := filepath.Glob(filepath.Join(pool, name+"_*.deb"))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("the testbed has no package %s in %s", name, pool)
		}
		from = append(from, found...)
	}
	for _, image := range parts.Images {
		if !strings.HasPrefix(filepath.Base(image), "busybox") { // the testbed's own
			from = append(from, image)
		}
	}
	for _, file := range from {
		if err := os.Link(file, filepath.Join(dir, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}

// offer puts the files of a payload on both servers.
func (b *bed) offer(dir string, p refitv1alpha1.ReleasePayload) {
	for _, s := range []*server{b.server, b.second} {
		for _, f := range p.Files {
			s.add(f.Digest, filepath.Join(dir, f.Path))
		}
		for _, i := range p.Images {
			if i.Archive != nil {
				s.add(i.Archive.Digest, filepath.Join(dir, i.Archive.Path))
			}
		}
	}
}

// signed brings a Release into the cluster whose payload no honest program would make, signed by this key.
func (b *bed) signed(t *testing.T, name string, p refitv1alpha1.ReleasePayload, k key) *release {
	t.Helper()
	payload, err := json.Marshal(p)
	must(t, err)
	r := &release{payload: p}
	r.ref = refitv1alpha1.ReleaseRef{Name: name, Digest: digestOf(payload)}
	must(t, b.writeRelease(t.Context(), name, p.Kubernetes, k.sign(t, payload)))
	return r
}

func (b *bed) writeRelease(ctx context.Context, name, version string, envelope []byte) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&refitv1alpha1.Release{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "Release"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       refitv1alpha1.ReleaseSpec{Kubernetes: version, Envelope: envelope},
	})
	if err != nil {
		return err
	}
	_, err = b.objects.Resource(releasesResource).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	return err
}

// without is a payload that leaves parts of the host alone.
func without(p refitv1alpha1.ReleasePayload, parts ...refitv1alpha1.Part) refitv1alpha1.ReleasePayload {
	var kept []refitv1alpha1.ReleaseFile
	for _, f := range p.Files {
		if !slices.Contains(parts, f.Part) {
			kept = append(kept, f)
		}
	}
	p.Files = kept
	for _, part := range parts {
		switch part {
		case refitv1alpha1.PartContainerd:
			p.Containerd = ""
		case refitv1alpha1.PartRunc:
			p.Runc = ""
		case refitv1alpha1.PartCNI:
			p.CNIPlugins = ""
		default:
		}
	}
	return p
}
