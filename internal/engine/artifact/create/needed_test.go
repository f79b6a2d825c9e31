package create

import (
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestFullNamesOfImages(t *testing.T) {
	for image, want := range map[string]string{
		"nginx":                                 "docker.io/library/nginx:latest",
		"nginx:1.27":                            "docker.io/library/nginx:1.27",
		"docker.io/nginx:1.27":                  "docker.io/library/nginx:1.27",
		"grafana/grafana:11.0.0":                "docker.io/grafana/grafana:11.0.0",
		"ghcr.io/liqotech/webhook:v1.2.0":       "ghcr.io/liqotech/webhook:v1.2.0",
		"registry.example:5000/a":               "registry.example:5000/a:latest",
		"localhost/a:1":                         "localhost/a:1",
		"registry.k8s.io/a/b:v1@sha256:" + zero: "registry.k8s.io/a/b:v1",
		"registry.k8s.io/a/b@sha256:" + zero:    "",
		"":                                      "",
		"Registry/A:1":                          "",
		"a b":                                   "",
	} {
		if got, err := FullName(image); got != want || (err == nil) == (want == "") {
			t.Errorf("FullName(%q) = %q, %v, want %q", image, got, err, want)
		}
	}
}

var zero = strings.Repeat("0", 64)

func TestImagesOfComponents(t *testing.T) {
	needed := []NeededImage{{"registry.k8s.io/metrics-server/metrics-server:v0.9.0", "metrics-server"}, {"docker.io/library/app:1", "app"}}
	dir := folder(t)
	_, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{dir}, Images: needed})
	if err == nil || !strings.Contains(err.Error(), "registry.k8s.io/metrics-server/metrics-server:v0.9.0 for ppc64le (metrics-server)") ||
		!strings.Contains(err.Error(), "docker.io/library/app:1 for ppc64le (app)") || !strings.Contains(err.Error(), "docker save") {
		t.Errorf("the images are missing: %v", err)
	}
	write(t, dir+"/metrics.tar", saved(t, "registry.k8s.io/metrics-server/metrics-server:v0.9.0"))
	write(t, dir+"/app.tar", saved(t, "app:1"))
	write(t, dir+"/other.tar", saved(t, "app:2"))
	result, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: []string{dir}, Images: needed})
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range needed {
		i := slices.IndexFunc(result.Payload.Images, func(i refitv1alpha1.ReleaseImage) bool { return i.Name == image.Name })
		if i < 0 || result.Payload.Images[i].Archive == nil || result.Payload.Images[i].ControlPlane {
			t.Errorf("%s is not an image of all hosts: %+v", image.Name, result.Payload.Images)
		}
	}
	if slices.ContainsFunc(result.Payload.Images, func(i refitv1alpha1.ReleaseImage) bool { return strings.Contains(i.Name, "app:2") }) {
		t.Error("an image that no component needs was added")
	}
}

func TestImagesOfComponentsFromTheirRegistry(t *testing.T) {
	u := newUpstream(t)
	u.image("metrics-server:v0.9.0")
	name := strings.TrimPrefix(u.URL, "http://") + "/mirror/metrics-server:v0.9.0"
	o := u.options()
	o.Images = []NeededImage{{name, "metrics-server"}}
	_, err := Payload(t.Context(), o)
	digest := digestOf(u.files["/v2/mirror/metrics-server/manifests/v0.9.0"])
	if err == nil || !strings.Contains(err.Error(), "--accept-digest "+digest) {
		t.Fatalf("an image without a signature: %v", err)
	}
	o.Online.AcceptDigests = append(o.Online.AcceptDigests, digest)
	result, err := Payload(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(result.Payload.Images, func(i refitv1alpha1.ReleaseImage) bool { return i.Name == name && i.Archive == nil && !i.ControlPlane }) {
		t.Errorf("%+v", result.Payload.Images)
	}
}
