package steps

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fetch downloads everything that this host needs into the store and checks it.
func fetch(ctx context.Context, h *Host) error {
	if err := h.fetchFiles(ctx); err != nil {
		return err
	}
	images, err := h.requiredImages()
	if err == nil && h.Upgrade.ImagesOnly {
		images, err = h.missingImages(ctx)
	}
	if err != nil {
		return err
	}
	for _, image := range images {
		if err := h.fetchArchive(ctx, image); err != nil {
			return err
		}
	}
	return nil
}

// fetchFiles downloads the files of the parts into the store and checks them.
func (h *Host) fetchFiles(ctx context.Context) error {
	files, err := h.files()
	if err != nil {
		return err
	}
	sources, err := h.sources()
	if err != nil {
		return err
	}
	for _, f := range files {
		h.ReportWait("fetching " + f.Name)
		if err := h.fetchFile(ctx, f, files, sources); err != nil {
			return err
		}
		if err := artifact.CheckBinary(ctx, h.Store.Path(f.Digest), f); err != nil {
			return err
		}
	}
	return nil
}

// fetchFile downloads a file into the store, or extracts it from its archive. The first file of an
// archive extracts all that this host needs from it.
func (h *Host) fetchFile(ctx context.Context, f refitv1alpha1.ReleaseFile, all []refitv1alpha1.ReleaseFile, sources []artifact.Source) error {
	if f.Archive == nil {
		return h.Store.Fetch(ctx, f.Blob, sources)
	}
	return h.Store.FetchMembers(ctx, filter(all, func(other refitv1alpha1.ReleaseFile) bool {
		return other.Archive != nil && other.Archive.Digest == f.Archive.Digest
	}), sources)
}

// fetchArchive downloads the archive of an image into the store. An image without one is pulled.
func (h *Host) fetchArchive(ctx context.Context, image refitv1alpha1.ReleaseImage) error {
	if image.Archive == nil {
		return nil
	}
	sources, err := h.sources()
	if err != nil {
		return err
	}
	h.ReportWait("fetching " + image.Name)
	return h.Store.Fetch(ctx, *image.Archive, sources)
}

// Blobs returns all files that this host needs in its store. Of archives, it needs what it
// extracts.
func (h *Host) Blobs() ([]refitv1alpha1.Blob, error) {
	files, err := h.files()
	if err != nil {
		return nil, err
	}
	var out []refitv1alpha1.Blob
	for _, f := range files {
		out = append(out, f.Blob)
	}
	images, err := h.images()
	for _, image := range images {
		if image.Archive != nil {
			out = append(out, *image.Archive)
		}
	}
	return out, err
}

// images returns the images of the ClusterRelease for this host. One that runs the version already
// keeps its images of Kubernetes, whatever their content.
func (h *Host) images() ([]refitv1alpha1.ReleaseImage, error) {
	id, err := host.Identify()
	if err != nil {
		return nil, err
	}
	images, _ := node.ImagesOf(h.fetched().Payload, "linux", id.Arch, h.controlPlane())
	return images, nil
}

// fetched is the part of the ClusterRelease whose images this host fetches.
func (h *Host) fetched() artifact.Release {
	release := h.Release
	if h.Upgrade.ImagesOnly {
		release.Payload = node.WithoutKubernetesImages(release.Payload)
	}
	return release
}

// requiredImages is images for a prefetch: it fails if one of them is for other platforms only.
func (h *Host) requiredImages() ([]refitv1alpha1.ReleaseImage, error) {
	id, err := host.Identify()
	if err != nil {
		return nil, err
	}
	if err := h.fetched().RequireImages("linux", id.Arch, h.controlPlane()); err != nil {
		return nil, err
	}
	return h.images()
}

func (h *Host) sources() ([]artifact.Source, error) {
	var out []artifact.Source
	for _, text := range h.Settings.Sources {
		source, err := artifact.ParseSource(text)
		if err != nil {
			return nil, err
		}
		out = append(out, source)
	}
	return out, nil
}
