package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// verified reads and verifies a ClusterRelease, and keeps the envelope: the upgrade must not need
// the API.
func (a *Agent) verified(ctx context.Context, ref refitv1alpha1.ReleaseRef) (artifact.Release, error) {
	release, envelope, err := a.readRelease(ctx, ref)
	if err != nil {
		return artifact.Release{}, err
	}
	if err := durable.MkdirAll(a.Settings.ReleasesDir(), 0o700); err != nil {
		return release, err
	}
	return release, durable.WriteFile(a.envelopeFile(ref.Digest), envelope, 0o600)
}

// readRelease reads a ClusterRelease from the cluster and verifies its signature with the keys
// pinned on this host.
func (a *Agent) readRelease(ctx context.Context, ref refitv1alpha1.ReleaseRef) (artifact.Release, []byte, error) {
	refuse := func(format string, args ...any) (artifact.Release, []byte, error) {
		message := fmt.Sprintf("ClusterRelease %s: %s", ref.Name, fmt.Sprintf(format, args...))
		return artifact.Release{}, nil, &node.Refusal{Reason: node.RefusedRelease, Message: message}
	}
	object, err := a.client.Release(ctx, ref.Name)
	if err != nil {
		return artifact.Release{}, nil, err
	}
	release, err := a.verify(object.Spec.Envelope)
	switch {
	case err != nil:
		return refuse("%v", err)
	case release.Digest != ref.Digest:
		return refuse("its digest is %s, but the order specifies %s", release.Digest, ref.Digest)
	case release.Payload.Kubernetes != object.Spec.Kubernetes:
		return refuse("its spec has version %s, but the signed payload has %s", object.Spec.Kubernetes, release.Payload.Kubernetes)
	}
	return release, object.Spec.Envelope, nil
}

func (a *Agent) envelopeFile(digest string) string {
	return filepath.Join(a.Settings.ReleasesDir(), strings.TrimPrefix(digest, "sha256:")+".json")
}

func (a *Agent) envelope(digest string) ([]byte, error) { return os.ReadFile(a.envelopeFile(digest)) }

// forget removes former upgrades except the last one, and files that the current ClusterRelease
// does not name.
func (a *Agent) forget(last string, release artifact.Release) error {
	entries, err := os.ReadDir(a.Settings.UpgradesDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != last {
			if err := os.RemoveAll(filepath.Join(a.Settings.UpgradesDir(), e.Name())); err != nil {
				return err
			}
		}
	}
	keep := map[string]bool{}
	for _, f := range release.Payload.Files {
		keep[f.Digest] = true
		if f.Archive != nil {
			keep[f.Archive.Digest] = true
		}
	}
	for _, image := range release.Payload.Images {
		if image.Archive != nil {
			keep[image.Archive.Digest] = true
		}
	}
	return a.store.Keep(keep)
}
