package steps

import (
	"context"
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
