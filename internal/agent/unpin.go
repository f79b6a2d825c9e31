package agent

import (
	"context"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/host"
)

// unpinAllBut gives the images of other Releases than these back to the kubelet's garbage collection, and forgets those Releases. A host that was upgraded for
// years would otherwise keep every image that it ever had. What cannot be given back now is tried again with the next operation.
func (a *Agent) unpinAllBut(ctx context.Context, kept ...artifact.Release) {
	ctr, err := host.LookPath("ctr")
	if err != nil {
		return // nothing was pinned without it
	}
	stay, envelopes := map[string]bool{}, map[string]bool{}
	for _, release := range kept {
		envelopes[a.envelopeFile(release.Digest)] = true
		for _, image := range release.Payload.Images {
			stay[image.Name] = true
		}
	}
	files, _ := filepath.Glob(filepath.Join(a.Settings.ReleasesDir(), "*.json")) // the pattern is well formed
	for _, file := range files {
		if envelopes[file] {
			continue
		}
		if err := a.unpin(ctx, ctr, file, stay); err != nil {
			a.Log.Warn("images of a former ClusterRelease stay pinned", "release", file, "error", err)
		}
	}
}

// unpin gives back the images of one ClusterRelease, and removes its envelope when all are.
func (a *Agent) unpin(ctx context.Context, ctr, file string, stay map[string]bool) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	release, err := artifact.Unverified(text) // only to let go of what it names
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
