package steps

import (
	"context"
	"errors"
	"os"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// rehearsed are the components that run in a rehearsal.
var rehearsed = []string{kubeadm.Etcd, kubeadm.APIServer}

// EtcdImage returns the image in the manifest of etcd, which must be that of the version that runs.
func EtcdImage(version string) (string, error) {
	text, err := os.ReadFile(manifest(kubeadm.Etcd))
	if err != nil {
		return "", err
	}
	parsed, err := kubeadm.Parse(text)
	if err != nil {
		return "", err
	}
	if parsed.Version() != version {
		return "", node.Transient("EtcdImageUnknown", nil,
			"Check that the kubelet has started etcd with its manifest (`crictl ps`). To upgrade without a proven backup, waive BackupProven",
			"etcd %s runs on this host, but its manifest has the image %s", version, parsed.Image)
	}
	return parsed.Image, nil
}

// RenderHop renders the manifests that an upgrade to the ClusterRelease leaves on a host that has
// the given ones, with the ClusterRelease's kubeadm, and imports the images of etcd and the API
// server in them, which stay pinned until UnpinHops. It changes nothing else outside of Dir.
func (h *Host) RenderHop(ctx context.Context, onDisk map[string][]byte) (map[string][]byte, error) {
	if err := h.fetchFiles(ctx); err != nil {
		return nil, err
	}
	if err := h.tools(ctx); err != nil {
		return nil, err
	}
	config, err := h.readClusterConfig(ctx)
	if err != nil {
		return nil, err
	}
	joined, err := h.renderOver(ctx, config, onDisk)
	if err != nil {
		return nil, err
	}
	for component, text := range joined {
		joined[component] = keepEtcd(component, onDisk[component], text)
	}
	return joined, h.importRehearsed(ctx, joined)
}

// importRehearsed imports the images in the manifests of the components that run in a rehearsal.
func (h *Host) importRehearsed(ctx context.Context, manifests map[string][]byte) error {
	images, err := h.images()
	if err != nil {
		return err
	}
	ctr, _ := host.LookPath("ctr") // only archives need it
	return h.withCRI(func(client *cri.Client) error {
		for _, component := range rehearsed {
			if _, has := manifests[component]; !has && component == kubeadm.Etcd {
				continue // it is external
			}
			parsed, err := kubeadm.Parse(manifests[component])
			if err != nil {
				return err
			}
			if err := h.provideImage(ctx, client, ctr, images, parsed.Image); err != nil {
				return err
			}
			if ctr == "" {
				continue // images are pinned only with ctr
			}
			err = pinFor(ctx, runtimePins{client, ctr, h.Settings.CRISocket}, h.Dir, parsed.Image)
			if err != nil && !errors.Is(err, cri.ErrCannotPin) {
				h.Log.Warn("cannot pin the image", "image", parsed.Image, "error", err)
			}
		}
		return nil
	})
}

// provideImage imports an image of the ClusterRelease, or requires any other.
func (h *Host) provideImage(ctx context.Context, client *cri.Client, ctr string, images []refitv1alpha1.ReleaseImage, name string) error {
	i := slices.IndexFunc(images, func(image refitv1alpha1.ReleaseImage) bool { return image.Name == name })
	if i < 0 {
		return requireImage(ctx, client, name)
	}
	if err := h.fetchArchive(ctx, images[i]); err != nil {
		return err
	}
	return h.importImage(ctx, client, ctr, images[i])
}

// requireImage requires an image that the ClusterRelease does not have, as that of an etcd which is
// new enough already, or one that a kubeadm patch names.
func requireImage(ctx context.Context, client *cri.Client, name string) error {
	image, err := client.Image(ctx, name)
	if err == nil && !image.Present {
		return node.ManualIntervention("ImageMissing", nil, "Create a ClusterRelease that has the image, or pull it on this host: `crictl pull "+name+"`",
			"the manifest has the image %s, which is neither in the ClusterRelease nor on this host", name)
	}
	return err
}
