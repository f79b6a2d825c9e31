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

// imageShows is how long an image may take to be seen after it was imported.
const imageShows = 15 * time.Second

// importImages brings every image into the container runtime, and sees it there under its name with the content that was signed.
func importImages(ctx context.Context, h *Host) error {
	images, err := h.images()
	if err != nil {
		return err
	}
	ctr, _ := host.LookPath("ctr") // only needed for archives; a runtime without it pulls
	return h.withCRI(func(client *cri.Client) error {
		for _, image := range images {
			if err := h.bring(ctx, client, ctr, image); err != nil {
				return err
			}
			// A runtime that cannot pin may collect the image: its archive is kept and imported again just before the swap.
			if err := cri.Pin(ctx, ctr, h.Settings.CRISocket, image.Name); err != nil && !errors.Is(err, cri.ErrCannotPin) {
				h.Log.Warn("the image could not be pinned", "image", image.Name, "error", err)
			}
		}
		return nil
	})
}

func (h *Host) bring(ctx context.Context, client *cri.Client, ctr string, image refitv1alpha1.ReleaseImage) error {
	if have, err := client.Image(ctx, image.Name); err != nil || (have.Present && have.ID == image.Config) {
		return err
	}
	h.Say("bringing " + image.Name + " into the container runtime")
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
	have, err := seen(ctx, client, image.Name)
	switch {
	case err != nil:
		return err
	case !have.Present:
		return node.Transient("ImageMissing", nil, "look at the container runtime's log on the host, then refit retry",
			"%s is not there although it was brought", image.Name)
	case have.ID != image.Config:
		return node.ManualIntervention("ImageDiffers", nil, "find out who serves another image under this name; make the ClusterRelease anew if it is right",
			"%s is %s here, the ClusterRelease says %s", image.Name, have.ID, image.Config)
	}
	return nil
}

// seen asks for an image that was just brought. containerd tells its CRI part of an import by an event, which is late on a busy host.
func seen(ctx context.Context, client *cri.Client, name string) (have cri.Image, err error) {
	ctx, cancel := context.WithTimeout(ctx, imageShows)
	defer cancel()
	_, err = until(ctx, 100*time.Millisecond, func(ctx context.Context) (string, error) {
		var err error
		if have, err = client.Image(ctx, name); err == nil && !have.Present {
			return "it is not there yet", nil
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

func (h *Host) missingImages(ctx context.Context) (missing []string, err error) {
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
				missing = append(missing, image.Name)
			}
		}
		return nil
	})
	return missing, err
}
