package steps

import (
	"context"
	"errors"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// importImages imports every image into the container runtime and checks that its content is what
// the ClusterRelease signs.
func importImages(ctx context.Context, h *Host) error {
	images, err := h.requiredImages()
	if err != nil {
		return err
	}
	return h.importAll(ctx, images)
}

func (h *Host) importAll(ctx context.Context, images []refitv1alpha1.ReleaseImage) error {
	ctr, _ := host.LookPath("ctr") // only archives need it
	return h.withCRI(func(client *cri.Client) error {
		for _, image := range images {
			if err := h.importImage(ctx, client, ctr, image); err != nil {
				return err
			}
			// A runtime that cannot pin may remove the image. checkImages imports it again before
			// the swap.
			if err := cri.Pin(ctx, ctr, h.Settings.CRISocket, image.Name); err != nil && !errors.Is(err, cri.ErrCannotPin) {
				h.Log.Warn("cannot pin the image", "image", image.Name, "error", err)
			}
		}
		return nil
	})
}

func (h *Host) importImage(ctx context.Context, client *cri.Client, ctr string, image refitv1alpha1.ReleaseImage) error {
	before, err := client.Image(ctx, image.Name)
	if err != nil || (before.Present && before.ID == image.Config) {
		return err
	}
	h.ReportWait("importing " + image.Name + " into the container runtime")
	if image.Archive != nil && ctr != "" {
		if err := h.Store.Check(ctx, *image.Archive); err != nil {
			return err
		}
		if err := cri.Import(ctx, ctr, h.Settings.CRISocket, h.Store.Path(image.Archive.Digest)); err != nil {
			return err
		}
	} else if _, err := client.Pull(ctx, image.Name); err != nil {
		return err
	}
	have, err := awaitImage(ctx, client, image.Name)
	if err != nil {
		return err
	}
	return h.admitImage(ctx, client, image, before, have)
}

// imageRemover removes images from a container runtime.
type imageRemover interface {
	Remove(ctx context.Context, name string) error
}

// admitImage checks an image after its import. It removes one with other content, unless that was
// there before and may be in use.
func (h *Host) admitImage(ctx context.Context, client imageRemover, image refitv1alpha1.ReleaseImage, before, have cri.Image) error {
	switch {
	case !have.Present:
		return node.Transient("ImageMissing", nil, "Check the log of the container runtime on the host, then run `refit retry`",
			"the container runtime does not list %s after its import", image.Name)
	case have.ID == image.Config:
		return nil
	case have.ID != before.ID:
		if err := client.Remove(ctx, image.Name); err != nil {
			h.Log.Warn("cannot remove an image that is not the one of the ClusterRelease", "image", image.Name, "error", err)
		}
	}
	return node.ManualIntervention("ImageDiffers", nil, "Find the registry that serves another image under this name; "+
		"if that image is right, create the ClusterRelease again",
		"%s has the digest %s, the ClusterRelease has %s", image.Name, have.ID, image.Config)
}

// awaitImage waits for an image after its import: containerd passes the import on to its CRI plugin
// by an event, which is late on a busy host.
func awaitImage(ctx context.Context, client *cri.Client, name string) (have cri.Image, err error) {
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	_, err = poll(ctx, 100*time.Millisecond, func(ctx context.Context) (string, error) {
		var err error
		if have, err = client.Image(ctx, name); err == nil && !have.Present {
			return "the image is not listed yet", nil
		}
		return "", err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		err = nil
	}
	return have, err
}

func imagesPresent(ctx context.Context, h *Host) (bool, error) {
	missing, err := h.missingImages(ctx)
	return err == nil && len(missing) == 0, err
}

func (h *Host) missingImages(ctx context.Context) (missing []refitv1alpha1.ReleaseImage, err error) {
	images, err := h.images()
	if err != nil {
		return nil, err
	}
	err = h.withCRI(func(client *cri.Client) error {
		for _, image := range images {
			have, err := client.Image(ctx, image.Name)
			if err != nil {
				return err
			}
			if !have.Present || have.ID != image.Config {
				missing = append(missing, image)
			}
		}
		return nil
	})
	return missing, err
}
