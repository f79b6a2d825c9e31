package agent

import (
	"context"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/host"
)

// unpinAllBut unpins the images of all other ClusterReleases, so that the kubelet can
// garbage-collect them, and removes their envelopes. Failures are retried with the next operation.
func (a *Agent) unpinAllBut(ctx context.Context, kept ...artifact.Release) {
	ctr, err := host.LookPath("ctr")
	if err != nil {
		return // images are pinned only with ctr
	}
	stay, envelopes := map[string]bool{}, map[string]bool{}
	for _, release := range kept {
		envelopes[a.envelopeFile(release.Digest)] = true
		for _, image := range release.Payload.Images {
			stay[image.Name] = true
		}
	}
	// The pattern is valid.
	files, _ := filepath.Glob(filepath.Join(a.Settings.ReleasesDir(), "*.json"))
	for _, file := range files {
		if envelopes[file] {
			continue
		}
		if err := a.unpin(ctx, ctr, file, stay); err != nil {
			a.Log.Warn("cannot unpin images of a former ClusterRelease", "release", file, "error", err)
		}
	}
}

// unpinHops unpins the images of a rehearsal, except those of a ClusterRelease that an upgrade
// keeps.
func (a *Agent) unpinHops(ctx context.Context, dir string) error {
	keep := map[string]bool{}
	// The pattern is valid.
	files, _ := filepath.Glob(filepath.Join(a.Settings.ReleasesDir(), "*.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		release, err := artifact.Unverified(text) // only for the names of its images
		if err != nil {
			return err
		}
		for _, image := range release.Payload.Images {
			keep[image.Name] = true
		}
	}
	return steps.UnpinHops(ctx, a.Settings.CRISocket, dir, keep)
}

// unpin unpins the images of one ClusterRelease, and then removes its envelope.
func (a *Agent) unpin(ctx context.Context, ctr, file string, stay map[string]bool) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	release, err := artifact.Unverified(text) // only to unpin its images
	if err != nil {
		return err
	}
	for _, image := range release.Payload.Images {
		if stay[image.Name] {
			continue
		}
		if err := cri.Unpin(ctx, ctr, a.Settings.CRISocket, image.Name); err != nil {
			return err
		}
	}
	return os.Remove(file)
}
