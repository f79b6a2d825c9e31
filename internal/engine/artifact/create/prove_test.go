package create

import (
	"errors"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream/upstreamtest"
)

const (
	kubeletPath = "/release/v1.36.3/bin/linux/" + arch + "/kubelet"
	etcdPath    = "/v2/mirror/etcd/manifests/"
)

// unsign removes the signatures of etcd.
func (u *publisher) unsign() (digest string) {
	digest = digestOf(u.files[etcdPath+"3.6.8-0"])
	delete(u.files, etcdPath+signatureTag(digest))
	return digest
}

func TestContentWithoutAProof(t *testing.T) {
	for situation, c := range map[string]struct {
		arrange func(*publisher)
		want    []string
	}{
		"a binary without a signature": {func(u *publisher) { delete(u.files, kubeletPath+".sig") }, []string{
			digestOf([]byte("kubelet")) + "  http://", kubeletPath + "\nUse a source with signatures.", "--accept-digest " + digestOf([]byte("kubelet")),
		}},
		"another binary with its checksum": {func(u *publisher) {
			u.files[kubeletPath] = []byte("rootkit")
			u.files[kubeletPath+".sha256"] = []byte(strings.TrimPrefix(digestOf([]byte("rootkit")), "sha256:"))
		}, []string{"cannot prove", kubeletPath, "Use another source: this one has other content than upstream"}},
		"an unreachable log": {func(u *publisher) { u.signs.Close() }, []string{"in the transparency log"}},
		"an image without a signature": {func(u *publisher) { u.unsign() }, []string{
			"mirror/etcd:3.6.8-0\nUse a source with signatures.", "--accept-digest sha256:",
		}},
		"another image": {func(u *publisher) {
			u.files[etcdPath+"3.6.8-0"] = []byte(`{"config":{"digest":"sha256:00"}}`)
		}, []string{"no signature proves", "/etcd:3.6.8-0"}},
		"an image of another repository": {func(u *publisher) {
			for _, path := range []string{"/manifests/", "/blobs/"} {
				u.copyAll("/v2/mirror/kube-proxy"+path, "/v2/mirror/etcd"+path)
			}
			u.files[etcdPath+"3.6.8-0"] = u.files["/v2/mirror/kube-proxy/manifests/v1.36.3"]
		}, []string{"signature of another image: registry.k8s.io/kube-proxy", "Use another source"}},
	} {
		t.Run(situation, func(t *testing.T) {
			u := newUpstream(t)
			c.arrange(u)
			_, err := Payload(t.Context(), u.options())
			if err == nil {
				t.Fatal("it was accepted")
			}
			if situation == "an unreachable log" && strings.Contains(err.Error(), "--accept-digest") {
				t.Errorf("an outage is no reason to accept a digest: %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
		})
	}
}

func isWrongOption(err error) bool { _, ok := errors.AsType[WrongOptionError](err); return ok }

func (u *publisher) copyAll(from, to string) {
	for path, content := range u.files {
		if rest, ok := strings.CutPrefix(path, from); ok {
			u.files[to+rest] = content
		}
	}
}

// The user accepts one file or image, and nothing else.
func TestAcceptedDigests(t *testing.T) {
	u := newUpstream(t)
	delete(u.files, kubeletPath+".sig")
	image := u.unsign()
	o := u.options()
	o.Online.AcceptDigests = []string{strings.ToUpper(digestOf([]byte("kubelet")))}
	if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), "--accept-digest "+image) || strings.Contains(err.Error(), kubeletPath) {
		t.Errorf("%v", err)
	}
	o.Online.AcceptDigests = append(o.Online.AcceptDigests, image)
	result, err := Payload(t.Context(), o)
	if err != nil || len(result.Payload.Files) != 3 || len(result.Payload.Images) != 7 {
		t.Fatalf("%v %+v", err, result.Payload)
	}
	if len(result.Warnings) != 2 || !strings.HasPrefix(result.Warnings[0], "no signature proves "+u.URL+kubeletPath) || !strings.HasSuffix(result.Warnings[1], image) {
		t.Errorf("%q", result.Warnings)
	}
	delete(u.files, strings.Replace(kubeletPath, "kubelet", "kubeadm", 1)+".cert")
	if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), digestOf([]byte("kubeadm"))) {
		t.Errorf("%v", err)
	}
	for _, wrong := range []string{"", "*", "sha256:", "sha256:" + strings.Repeat("0", 63), strings.Repeat("0", 64)} {
		o.Online.AcceptDigests = []string{wrong}
		if _, err := Payload(t.Context(), o); err == nil || !isWrongOption(err) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// A mirror without signatures needs one more attempt, and not one for each digest.
func TestEverythingWithoutAProofIsReportedAtOnce(t *testing.T) {
	u := newUpstream(t)
	u.archives()
	want := []string{u.unsign(), digestOf([]byte("runc")), digestOf(u.files[containerdPath]), digestOf(u.files[pluginsPath])}
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		delete(u.files, strings.Replace(kubeletPath, "kubelet", name, 1)+".sig")
		want = append(want, digestOf([]byte(name)))
	}
	o := u.options()
	o.Containerd, o.Runc, o.CNIPlugins = "2.4.2", "1.4.0", "1.9.1"
	_, err := Payload(t.Context(), o)
	if err == nil {
		t.Fatal("content without a proof was accepted")
	}
	for _, digest := range want {
		if strings.Count(err.Error(), digest) != 2 || strings.Count(err.Error(), "--accept-digest "+digest) != 1 {
			t.Errorf("%s is not reported with its flag: %v", digest, err)
		}
	}
	// The flags as the error names them.
	_, flags, _ := strings.Cut(err.Error(), "add to `refit release create` or `refit release add`:\n")
	for flag := range strings.SplitSeq(flags, "\\\n") {
		digest, ok := strings.CutPrefix(strings.TrimSpace(flag), "--accept-digest ")
		if !ok {
			t.Errorf("%q is not a flag", flag)
		}
		o.Online.AcceptDigests = append(o.Online.AcceptDigests, digest)
	}
	if result, err := Payload(t.Context(), o); err != nil || len(result.Warnings) != len(want) {
		t.Errorf("%v %q", err, result.Warnings)
	}
}

// Users get no ClusterRelease that the public instance of sigstore did not prove.
func TestProofsAreThoseOfThePublicInstance(t *testing.T) {
	u := newUpstream(t)
	o := u.options()
	o.Online.Sigstore = upstream.Sigstore{Log: u.signs.URL}
	if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), "not enough verified log entries") {
		t.Errorf("%v", err)
	}
}

// A mirror with bundles needs no transparency log.
func TestMirrorWithBundles(t *testing.T) {
	u := newUpstream(t)
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		path := strings.Replace(kubeletPath, "kubelet", name, 1)
		signed := u.signs.Sign(upstreamtest.Signer{Account: upstream.BinarySigner, Issuer: upstream.SignerIssuer}, []byte(name))
		u.files[path+".sigstore.json"] = u.signs.Bundle(signed)
		delete(u.files, path+".sig")
		delete(u.files, path+".cert")
	}
	u.signs.Close()
	if _, err := Payload(t.Context(), u.options()); err != nil {
		t.Error(err)
	}
}

// All platforms of an image have one signature.
func TestImagesAreProvenOnce(t *testing.T) {
	u := newUpstream(t)
	o := u.options()
	m := &builder{Options: o, proven: map[string]bool{}}
	r := newRegistry(o.Online.Repository, "")
	image := r.nameOf("etcd", "3.6.8-0")
	digest := digestOf(u.files[etcdPath+"3.6.8-0"])
	if err := m.proveImage(t.Context(), r, "etcd", image, digest); err != nil {
		t.Fatal(err)
	}
	u.unsign()
	if err := m.proveImage(t.Context(), r, "etcd", image, digest); err != nil {
		t.Error(err)
	}
	if err := m.proveImage(t.Context(), r, "etcd", image, digestOf([]byte("x"))); err == nil {
		t.Error("another digest is proven, too")
	}
}
