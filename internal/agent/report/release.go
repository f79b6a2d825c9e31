package report

import (
	"context"
	"runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func artifacts(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	if s.Release == nil {
		return nil, nil //nolint:nilnil // no facts
	}
	blobs := s.Release.Blobs
	if blobs == nil {
		files, err := s.releaseFiles(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			blobs = append(blobs, f.Blob)
		}
	}
	ref, missing := s.Release.Ref, int32(len(s.Release.Store.Missing(blobs)))
	return func(to *refitv1alpha1.NodeReportStatus) { to.Release, to.MissingArtifacts = &ref, &missing }, nil
}

func runtimeFacts(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	client, err := cri.Dial(s.criSocket())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	version, err := client.Version(ctx)
	if err != nil {
		return nil, err
	}
	facts := &refitv1alpha1.CRIFacts{Runtime: version.Runtime + " " + plain(version.Version)}
	if has, err := client.RuntimeConfig(ctx); err == nil {
		facts.RuntimeConfig = &has
	}
	missing, err := s.missingImages(ctx)
	var names []string
	for _, image := range missing {
		names = append(names, image.Name)
	}
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.CRI, to.MissingImages = facts, names
		if version.Runtime == "containerd" {
			to.Versions.Containerd = plain(version.Version)
		}
	}, err
}

// missingImages returns the images of the ClusterRelease that the runtime does not have, or has
// with other content.
func (s *Sources) missingImages(ctx context.Context) ([]refitv1alpha1.ReleaseImage, error) {
	if s.Release == nil {
		return nil, nil
	}
	client, err := cri.Dial(s.criSocket())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var missing []refitv1alpha1.ReleaseImage
	// NotInRelease reports the images that the ClusterRelease has for other platforms only.
	images, _ := node.ImagesOf(s.Release.Release.Payload, runtime.GOOS, runtime.GOARCH, s.controlPlane())
	for _, image := range images {
		has, err := client.Image(ctx, image.Name)
		if err != nil {
			return nil, err
		}
		if !has.Present || has.ID != image.Config {
			missing = append(missing, image)
		}
	}
	return missing, nil
}

func (s *Sources) criSocket() string {
	if s.Settings.CRISocket != "" {
		return s.Settings.CRISocket
	}
	return cri.DefaultSocket
}
