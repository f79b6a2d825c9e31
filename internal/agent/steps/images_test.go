package steps

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// imageList is a runtime that has images by name.
type imageList map[string]string

func (l imageList) Image(_ context.Context, name string) (cri.Image, error) {
	id, has := l[name]
	return cri.Image{Present: has, ID: id}, nil
}

func (l imageList) Remove(_ context.Context, name string) error {
	delete(l, name)
	return nil
}

// A registry may serve another image under the name. It must not stay where the kubelet would start
// it. An image that was there before is not Refit's to remove: containers may run it.
func TestImageThatDiffersIsRemovedIfRefitBroughtIt(t *testing.T) {
	const name = "registry.k8s.io/etcd:3.6.8-0"
	image := refitv1alpha1.ReleaseImage{Name: name, Config: "sha256:right"}
	for situation, tt := range map[string]struct {
		before  cri.Image
		now     string
		removed bool
		reason  string
	}{
		"right":                     {cri.Image{}, "sha256:right", false, ""},
		"differs":                   {cri.Image{}, "sha256:wrong", true, "ImageDiffers"},
		"differs from the former":   {cri.Image{Present: true, ID: "sha256:former"}, "sha256:wrong", true, "ImageDiffers"},
		"differed already":          {cri.Image{Present: true, ID: "sha256:wrong"}, "sha256:wrong", false, "ImageDiffers"},
		"not listed":                {cri.Image{}, "", false, "ImageMissing"},
		"replaced by the right one": {cri.Image{Present: true, ID: "sha256:former"}, "sha256:right", false, ""},
	} {
		t.Run(situation, func(t *testing.T) {
			list := imageList{}
			if tt.now != "" {
				list[name] = tt.now
			}
			have, err := list.Image(t.Context(), name)
			must(t, err)
			err = testHost(t).admitImage(t.Context(), list, image, tt.before, have)
			if (err == nil) != (tt.reason == "") || (err != nil && node.FailureOf(err).Reason != tt.reason) {
				t.Errorf("got %v", err)
			}
			if _, has := list[name]; has == tt.removed && tt.now != "" {
				t.Errorf("present %t", has)
			}
		})
	}
}

const etcdImage, proxyImage = "registry.k8s.io/etcd:3.6.8-0", "registry.k8s.io/kube-proxy:v1.36.3"

// imageHost is a control plane node that needs two images.
func imageHost(t *testing.T, registry map[string]string) (*Host, *fakeRuntime) {
	t.Helper()
	h := testHost(t)
	h.Upgrade.Role, h.ReportWait = refitv1alpha1.RoleControlPlane, func(string) {}
	for name, controlPlane := range map[string]bool{etcdImage: true, proxyImage: false} {
		h.Release.Payload.Images = append(h.Release.Payload.Images, refitv1alpha1.ReleaseImage{
			Name: name, OS: "linux", Arch: runtime.GOARCH, Config: "sha256:right", ControlPlane: controlPlane,
		})
	}
	slices.SortFunc(h.Release.Payload.Images, func(a, b refitv1alpha1.ReleaseImage) int { return strings.Compare(a.Name, b.Name) })
	return h, runtimeFor(t, h, registry)
}

// The agent can die between two images, and the runtime can lose one before the swap.
func TestInterruptedImportPullsOnlyWhatIsMissing(t *testing.T) {
	h, r := imageHost(t, map[string]string{etcdImage: "sha256:right"})
	if err := importImages(t.Context(), h); err == nil || node.FailureOf(err).Reason != "PullFailed" {
		t.Fatalf("error %v", err)
	}
	if done, err := imagesPresent(t.Context(), h); done || err != nil {
		t.Errorf("the probe of a half import: %t, %v", done, err)
	}
	r.mu.Lock()
	r.registry[proxyImage] = "sha256:right"
	r.mu.Unlock()
	must(t, importImages(t.Context(), h))
	if done, err := imagesPresent(t.Context(), h); !done || err != nil {
		t.Errorf("the probe of a whole import: %t, %v", done, err)
	}
	must(t, importImages(t.Context(), h))
	must(t, checkImages(t.Context(), h))
	if _, pulls := r.state(); !slices.Equal(pulls, []string{etcdImage, proxyImage, proxyImage}) {
		t.Errorf("pulls %q", pulls)
	}
	r.lose(etcdImage)
	must(t, checkImages(t.Context(), h))
	if images, _ := r.state(); images[etcdImage] != "sha256:right" {
		t.Error("a lost image was not imported again")
	}
}

// The probe compares the content: a tag can move.
func TestImageOfAnotherContentIsNotPresent(t *testing.T) {
	h, r := imageHost(t, map[string]string{etcdImage: "sha256:right", proxyImage: "sha256:wrong"})
	r.images[etcdImage], r.images[proxyImage] = "sha256:right", "sha256:former"
	if done, err := imagesPresent(t.Context(), h); done || err != nil {
		t.Errorf("the probe of a former image: %t, %v", done, err)
	}
	if err := importImages(t.Context(), h); err == nil || node.FailureOf(err).Reason != "ImageDiffers" {
		t.Errorf("error %v", err)
	}
	if images, _ := r.state(); images[proxyImage] != "" {
		t.Error("the wrong image stays")
	}
	h.Upgrade.Role = refitv1alpha1.RoleWorker
	if images, err := h.images(); err != nil || len(images) != 1 || images[0].Name != proxyImage {
		t.Errorf("a worker needs %v, %v", images, err)
	}
}

// An agent that did not require images for its platform may have started the upgrade.
func TestUpgradeInProgressDoesNotRequireImagesOfItsPlatform(t *testing.T) {
	h, r := imageHost(t, map[string]string{etcdImage: "sha256:right"})
	for i := range h.Release.Payload.Images {
		if image := &h.Release.Payload.Images[i]; image.Name == proxyImage {
			image.Arch = "s390x"
		}
	}
	for name, prefetch := range map[string]func() error{
		"fetch": func() error { return fetch(t.Context(), h) }, "import": func() error { return importImages(t.Context(), h) },
	} {
		if err := prefetch(); err == nil || node.FailureOf(err).Reason != "NotInRelease" {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, checkImages(t.Context(), h))
	if images, _ := r.state(); images[etcdImage] != "sha256:right" {
		t.Error("a lost image was not imported again")
	}
	if done, err := imagesPresent(t.Context(), h); !done || err != nil {
		t.Errorf("the probe: %t, %v", done, err)
	}
}
