package cri

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Image is the image that a runtime has under a name.
type Image struct {
	Present bool
	// ID is the digest of the image's configuration.
	ID string
	// Pinned means that the kubelet's garbage collection does not remove it.
	Pinned bool
}

// Image returns the image of a name.
func (c *Client) Image(ctx context.Context, name string) (Image, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := c.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: name}})
	if gone(err) {
		return Image{}, nil
	}
	if err != nil {
		return Image{}, explain(err, "cannot get image %s", name)
	}
	if response.GetImage() == nil {
		return Image{}, nil
	}
	return Image{Present: true, ID: response.GetImage().GetId(), Pinned: response.GetImage().GetPinned()}, nil
}

// ImageNames returns the names of all images, with their tags.
func (c *Client) ImageNames(ctx context.Context) ([]string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := c.images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return nil, explain(err, "cannot list the images")
	}
	var names []string
	for _, image := range response.GetImages() {
		names = append(names, image.GetRepoTags()...)
	}
	return names, nil
}

// Pull pulls an image and returns its ID, which the caller compares with the expected one: a tag
// can move. The caller sets the deadline.
func (c *Client) Pull(ctx context.Context, name string) (id string, err error) {
	_, err = c.images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: name}})
	if err != nil {
		if ctx.Err() != nil {
			return "", explain(err, "cannot pull image %s", name)
		}
		return "", node.Transient("PullFailed", err,
			"Check that the host reaches the registry (`crictl pull`), or add the image to the ClusterRelease",
			"cannot pull image %s", name)
	}
	// A pull returns a reference in some runtimes, and an ID in others.
	image, err := c.Image(ctx, name)
	if err != nil {
		return "", err
	}
	if !image.Present {
		return "", errors.New("cannot pull image " + name + ": the runtime does not have it after the pull")
	}
	return image.ID, nil
}

// Remove removes an image with all its names. Running containers keep their files.
func (c *Client) Remove(ctx context.Context, name string) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := c.images.RemoveImage(ctx, &runtimeapi.RemoveImageRequest{Image: &runtimeapi.ImageSpec{Image: name}})
	if err != nil && !gone(err) {
		return explain(err, "cannot remove image %s", name)
	}
	return nil
}

func gone(err error) bool { return status.Code(err) == codes.NotFound }
