package create

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream/upstreamtest"
)

// publisher is a server like those of upstream: checksums and signatures beside binaries, and a
// registry that requires an anonymous token.
type publisher struct {
	*httptest.Server
	t     *testing.T
	signs *upstreamtest.Sigstore
	files map[string][]byte
	wrong map[string]bool // documents for which the registry returns other content
}

func newUpstream(t *testing.T) *publisher {
	t.Helper()
	u := &publisher{t: t, signs: upstreamtest.New(t), files: map[string][]byte{}, wrong: map[string]bool{}}
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		u.program("/release/v1.36.3/bin/linux/"+arch+"/"+name, name)
	}
	u.files["/runc/v1.4.0/runc."+arch] = []byte("runc")
	u.files["/runc/v1.4.0/runc.sha256sum"] = fmt.Appendf(nil, "%064d *runc.amd64\n%s *runc.%s\n", 0, strings.TrimPrefix(digestOf([]byte("runc")), "sha256:"), arch)
	for _, image := range []string{
		"kube-apiserver:v1.36.3", "kube-controller-manager:v1.36.3", "kube-scheduler:v1.36.3", "kube-proxy:v1.36.3", "etcd:3.6.8-0", "coredns:v1.14.2", "pause:3.10.2",
	} {
		u.image(image)
	}
	u.Server = httptest.NewServer(http.HandlerFunc(u.serve))
	t.Cleanup(u.Close)
	return u
}

func (u *publisher) program(path, content string) {
	u.files[path] = []byte(content)
	u.files[path+".sha256"] = []byte(strings.TrimPrefix(digestOf([]byte(content)), "sha256:") + "\n")
	signed := u.signs.Sign(upstreamtest.Signer{Account: upstream.BinarySigner, Issuer: upstream.SignerIssuer}, []byte(content))
	u.files[path+".sig"], u.files[path+".cert"] = signed.Sig(), signed.Cert()
}

// sign signs what the tag of an image refers to.
func (u *publisher) sign(name, tag string) {
	u.t.Helper()
	base := "/v2/mirror/" + name
	digest := digestOf(u.files[base+"/manifests/"+tag])
	statement := upstreamtest.Statement(u.t, upstreamName(name), digest)
	signed := u.signs.Sign(upstreamtest.Signer{Account: upstream.ImageSigner, Issuer: upstream.SignerIssuer}, statement)
	u.files[base+"/blobs/"+digestOf(statement)] = statement
	u.files[base+"/manifests/"+signatureTag(digest)] = upstreamtest.Manifest(u.t, signed.Layer(u.t))
}

func signatureTag(digest string) string { return strings.Replace(digest, ":", "-", 1) + ".sig" }

func (u *publisher) image(image string) {
	u.t.Helper()
	type d = map[string]any
	name, tag, _ := strings.Cut(image, ":")
	base := "/v2/mirror/" + name
	config := configText(image)
	manifest := jsonOf(u.t, d{"config": d{"digest": digestOf(config)}})
	u.files[base+"/blobs/"+digestOf(config)] = config
	u.files[base+"/manifests/"+digestOf(manifest)] = manifest
	u.files[base+"/manifests/"+tag] = jsonOf(u.t, d{"manifests": []d{
		{"digest": digestOf([]byte("x")), "platform": d{"os": "linux", "architecture": "s390x"}},
		{"digest": digestOf(manifest), "platform": d{"os": "linux", "architecture": arch}},
	}})
	if name == "pause" { // an image of one platform needs no index
		u.files[base+"/manifests/"+tag] = manifest
	}
	u.sign(name, tag)
}

func (u *publisher) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/token" {
		fmt.Fprintf(w, `{"token":"for %s"}`, r.URL.Query().Get("scope"))
		return
	}
	if rest, is := strings.CutPrefix(r.URL.Path, "/v2/"); is {
		repository := rest[:strings.LastIndex(rest[:strings.LastIndex(rest, "/")], "/")]
		if r.Header.Get("Authorization") != "Bearer for repository:"+repository+":pull" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+u.URL+`/token",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	content, ok := u.files[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if u.wrong[r.URL.Path] {
		content = append([]byte(" "), content...)
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	_, _ = w.Write(content)
}

func (u *publisher) options() Options {
	return Options{Kubernetes: "v1.36.3", Online: &Online{
		Downloads: u.URL + "/release", RuncDownloads: u.URL + "/runc", Repository: u.URL + "/mirror", Archs: []string{arch},
		ContainerdDownloads: u.URL + "/containerd", CNIDownloads: u.URL + "/cni",
		Sigstore: upstream.Sigstore{Trust: u.signs.Trust(), Log: u.signs.URL},
	}}
}

func TestReleaseFromUpstream(t *testing.T) {
	u := newUpstream(t)
	o := u.options()
	o.Runc, o.Online.AcceptDigests = "1.4.0", []string{digestOf([]byte("runc"))}
	result, err := Payload(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := result.Payload
	if len(p.Files) != 4 || len(p.Images) != 7 || p.Runc != "1.4.0" || p.Etcd != "3.6.8-0" || len(result.Warnings) != 1 {
		t.Errorf("%+v %v", p, result.Warnings)
	}
	for _, file := range p.Files {
		if file.Digest != digestOf([]byte(file.Name)) || file.Size != int64(len(file.Name)) || len(file.URLs) != 1 || !strings.HasPrefix(file.URLs[0], u.URL) {
			t.Errorf("%+v", file)
		}
	}
	for _, image := range p.Images {
		_, short, _ := strings.Cut(image.Name, "/mirror/")
		if image.Config != digestOf(configText(short)) || image.Archive != nil {
			t.Errorf("%+v", image)
		}
	}
}

func TestImagesOfAMirrorKeepTheirNames(t *testing.T) {
	u := newUpstream(t)
	u.image("coredns/coredns:v1.14.2")
	o := u.options()
	o.Online.Repository, o.Online.Mirror = "", u.URL+"/mirror"
	result, err := Payload(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range result.Payload.Images {
		if short, is := strings.CutPrefix(image.Name, "registry.k8s.io/"); !is || image.Config != digestOf(configText(short)) {
			t.Errorf("%+v", image)
		}
	}
}

func TestFoldersComeBeforeUpstream(t *testing.T) {
	u := newUpstream(t)
	o := u.options()
	o.Folders = []string{folder(t)}
	for path := range u.files {
		if !strings.Contains(path, "kube-proxy") {
			delete(u.files, path)
		}
	}
	remove(t, o.Folders[0]+"/images/kube-proxy.tar")
	result, err := Payload(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Payload.Files) != 3 || len(result.Payload.Images) != 7 {
		t.Errorf("%+v", result.Payload)
	}
}

func TestIncompleteUpstreamMakesNoRelease(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(u *publisher, o *Options)
		want    string
	}{
		"missing version":       {func(_ *publisher, o *Options) { o.Kubernetes = "v1.36.9" }, "status 404"},
		"no platform":           {func(_ *publisher, o *Options) { o.Online.Archs = nil }, "no platform is given"},
		"missing platform":      {func(_ *publisher, o *Options) { o.Online.Archs = []string{"arm64"} }, "status 404"},
		"unknown minor version": {func(_ *publisher, o *Options) { o.Kubernetes = "v1.99.0" }, "--etcd, --coredns and --pause"},
		"a web page as a checksum": {func(u *publisher, _ *Options) {
			u.files["/release/v1.36.3/bin/linux/"+arch+"/kubelet.sha256"] = []byte("<html>")
		}, "is invalid"},
		"missing binary":  {func(u *publisher, _ *Options) { delete(u.files, "/release/v1.36.3/bin/linux/"+arch+"/kubelet") }, "status 404"},
		"missing image":   {func(u *publisher, _ *Options) { delete(u.files, "/v2/mirror/etcd/manifests/3.6.8-0") }, "status 404"},
		"missing runc":    {func(_ *publisher, o *Options) { o.Runc = "1.9.9" }, "status 404"},
		"missing archive": {func(_ *publisher, o *Options) { o.Containerd = "2.4.2" }, "status 404"},
		"containerd for packages": {func(_ *publisher, o *Options) {
			o.Containerd, o.Online.Kinds = "2.4.2", []refitv1alpha1.PackageKind{refitv1alpha1.PackageDeb}
		}, "no containerd 2.4.2 found in the directories"},
		"unreachable":    {func(_ *publisher, o *Options) { o.Online.Downloads = "http://127.0.0.1:1" }, "cannot reach"},
		"wrong manifest": {func(u *publisher, _ *Options) { u.corrupt("/v2/mirror/etcd/manifests/sha256:") }, "returned other content"},
		"wrong configuration": {func(u *publisher, _ *Options) {
			u.corrupt("/v2/mirror/pause/blobs/" + digestOf(configText("pause:3.10.2")))
		}, "returned other content"},
		"image for another platform": {func(u *publisher, _ *Options) {
			config := []byte(`{"os":"linux","architecture":"amd64"}`)
			u.files["/v2/mirror/pause/blobs/"+digestOf(config)] = config
			u.files["/v2/mirror/pause/manifests/3.10.2"] = []byte(`{"config":{"digest":"` + digestOf(config) + `"}}`)
			u.sign("pause", "3.10.2")
		}, "built for linux/amd64"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			o := u.options()
			c.arrange(u, &o)
			if _, err := Payload(t.Context(), o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

func (u *publisher) corrupt(prefix string) {
	for path := range u.files {
		if strings.HasPrefix(path, prefix) {
			u.wrong[path] = true
		}
	}
}

func TestTagsOfAnotherPatchReleaseCauseAWarning(t *testing.T) {
	u := newUpstream(t)
	o := u.options()
	o.Kubernetes = "v1.36.4"
	for path, content := range u.files {
		u.files[strings.ReplaceAll(path, "v1.36.3", "v1.36.4")] = content
	}
	result, err := Payload(t.Context(), o)
	if err != nil || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "those of v1.36.3") {
		t.Errorf("%v %q", err, result.Warnings)
	}
}

func TestImageNamesDependOnTheRegistry(t *testing.T) {
	for repository, want := range map[string]string{
		"registry.k8s.io":           "registry.k8s.io/coredns/coredns:v1",
		"registry.example:5000/k8s": "registry.example:5000/k8s/coredns:v1",
		"http://localhost:5000":     "localhost:5000/coredns:v1",
	} {
		if got := newRegistry(repository, "").nameOf("coredns", "v1"); got != want {
			t.Errorf("%s: %s, want %s", repository, got, want)
		}
	}
}

// A ClusterRelease is public, and errors end up in logs.
func TestAddressesWithoutCredentials(t *testing.T) {
	for situation, arrange := range map[string]func(o *Online){
		"a password in the address of packages": func(o *Online) { o.Packages = "https://user:secret@mirror.example/k8s" },
		"a password in the address of binaries": func(o *Online) { o.Downloads = "https://user:secret@mirror.example/k8s" },
		"a password that is no URL":             func(o *Online) { o.RuncDownloads = "https://user:secret@mirror example:x/" },
		"a password of a registry":              func(o *Online) { o.Repository = "user:secret@registry.example/k8s" },
		"a password of a mirror":                func(o *Online) { o.Mirror = "https://user:secret@registry.example/k8s" },
		"no scheme":                             func(o *Online) { o.Packages = "mirror.example/k8s" },
		"a file":                                func(o *Online) { o.Downloads = "file:///srv/secret" },
		"a query":                               func(o *Online) { o.Packages = "https://mirror.example/k8s?a=b" },
	} {
		t.Run(situation, func(t *testing.T) {
			o := Options{Kubernetes: "v1.36.3", Online: &Online{Archs: []string{arch}}}
			arrange(o.Online)
			_, err := Payload(t.Context(), o)
			if _, wrong := errors.AsType[WrongOptionError](err); !wrong || strings.Contains(err.Error(), "user:secret") {
				t.Errorf("%v", err)
			}
			_, err = o.Online.Newest(t.Context(), "1.36", nil)
			if _, wrong := errors.AsType[WrongOptionError](err); !wrong || strings.Contains(err.Error(), "user:secret") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestPlatformIsNamedTwice(t *testing.T) {
	p := newPackages(t, newUpstream(t))
	o := p.options(kinds...)
	o.Online.Archs = []string{arch, arch}
	result, err := Payload(t.Context(), o)
	if err != nil || len(result.Payload.Files) != 9 {
		t.Errorf("%d files, %v", len(result.Payload.Files), err)
	}
}
