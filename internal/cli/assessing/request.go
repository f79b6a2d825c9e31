package assessing

import (
	"context"
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Request is an upgrade as a user describes it, and the cluster or the Snapshot to assess it for.
// The flags override the manifest.
type Request struct {
	source.Source
	manifest.Flags
	Manifest string // the file of a ClusterUpgrade; empty: none

	waivers  []refitv1alpha1.Waiver // those of flags
	observed *source.Observation    // nil until it is read
}

// Upgrade returns the ClusterUpgrade that the request describes.
func (r *Request) Upgrade(ctx context.Context, a *Assessor) (*refitv1alpha1.ClusterUpgrade, error) {
	if given := r.Given(); r.File != "" && given != "" {
		return nil, exit.Usagef("--from and %s exclude each other", given)
	}
	if r.File == document.Stdin && r.Manifest == document.Stdin {
		return nil, exit.Usagef("--from and --file cannot both be read from stdin")
	}
	upgrade, err := r.upgrade(ctx, a)
	if errors.Is(err, request.ErrNoTarget) {
		return nil, source.NoTarget(a.Reader.Glance(ctx, &r.Source))
	}
	return upgrade, err
}

func (r *Request) upgrade(ctx context.Context, a *Assessor) (*refitv1alpha1.ClusterUpgrade, error) {
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if r.Manifest != "" {
		raw, err := a.Reader.ReadFile(r.Manifest)
		if err != nil {
			return nil, fmt.Errorf("cannot read the manifest: %w", err)
		}
		if upgrade, err = manifest.Read(document.NameOf(r.Manifest), raw); err != nil {
			return nil, err
		}
	}
	var err error
	if r.waivers, err = r.Apply(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	resolve := func(minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) { return r.resolveMinor(ctx, a, minor, spec) }
	if err := r.ApplyTarget(&upgrade.Spec, resolve); err != nil {
		return nil, err
	}
	if err := request.Validate(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return upgrade, nil
}

// resolveMinor returns the newest patch release of a minor version that a ClusterRelease in the
// cluster has.
func (r *Request) resolveMinor(ctx context.Context, a *Assessor, minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) {
	if err := r.read(ctx, a); err != nil {
		return "", err
	}
	version, err := assess.NewestPatch(minor, r.observed.Snapshot, spec)
	if err != nil {
		return "", exit.Usagef("--to %s: %w", r.To, err)
	}
	return version, nil
}
