package cri

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Image is what a runtime has under a name.
type Image struct {
	Present bool
	// ID is the digest of the image's configuration.
	ID string
	// Pinned says that the kubelet's garbage collection leaves it alone.
	Pinned bool
}

// Image asks what is there under a name.
func (c *Client) Image(ctx context.Context, name string) (Image, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	answer, err := c.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: name}})
	if gone(err) {
		return Image{}, nil
	}
	if err != nil {
		return Image{}, told(err, "asking for image %s", name)
	}
	if answer.GetImage() == nil {
		return Image{}, nil
	}
	return Image{Present: true, ID: answer.GetImage().GetId(), Pinned: answer.GetImage().GetPinned()}, nil
}

// Pull fetches an image from its registry and returns its ID, which the caller compares with what it wants: a tag can be moved. The caller gives the deadline.
func (c *Client) Pull(ctx context.Context, name string) (id string, err error) {
	_, err = c.images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: name}})
	if err != nil {
		if ctx.Err() != nil {
			return "", told(err, "pulling image %s", name)
		}
		return "", node.Transient("PullFailed", err, "see whether the host reaches the image's registry, or bring the image with the ClusterRelease",
			"image %s could not be pulled", name)
	}
	image, err := c.Image(ctx, name) // What a pull returns is a reference in some runtimes, and an ID in others.
	if err != nil {
		return "", err
	}
	if !image.Present {
		return "", errors.New("image " + name + " was pulled and is not there")
	}
	return image.ID, nil
}

func gone(err error) bool { return status.Code(err) == codes.NotFound }
