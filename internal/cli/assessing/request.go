package assessing

import (
	"context"
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Request is an upgrade as a user describes it, and the cluster or the Snapshot to assess it for.
// The flags override the manifest.
type Request struct {
	source.Source
	Manifest string // the file of a ClusterUpgrade; empty: none
	// Components is true for an upgrade of components alone, on the version of Kubernetes that
	// runs.
	Components bool

	waivers  []refitv1alpha1.Waiver // those of flags
	observed *source.Observation    // nil until it is read
}

// Flags are the flags that describe an upgrade: *manifest.Flags.
type Flags interface {
	// Apply applies the flags to a spec, except for the target, and returns the waivers among them.
	Apply(spec *refitv1alpha1.ClusterUpgradeSpec) ([]refitv1alpha1.Waiver, error)
	// ApplyTarget applies the target. resolve returns the version that a minor version stands for.
	ApplyTarget(spec *refitv1alpha1.ClusterUpgradeSpec, resolve func(string, refitv1alpha1.ClusterUpgradeSpec) (string, error)) error
}

// Upgrade returns the ClusterUpgrade that the request and the flags describe.
func (r *Request) Upgrade(ctx context.Context, a *Assessor, flags Flags) (*refitv1alpha1.ClusterUpgrade, error) {
	if given := r.Given(); r.File != "" && given != "" {
		return nil, exit.Usagef("--from and %s exclude each other", given)
	}
	if r.File == document.Stdin && r.Manifest == document.Stdin {
		return nil, exit.Usagef("--from and --file cannot both be read from stdin")
	}
	upgrade, err := r.upgrade(ctx, a, flags)
	if errors.Is(err, request.ErrNoTarget) {
		return nil, noTarget(a.Reader.Glance(ctx, &r.Source))
	}
	return upgrade, err
}

func (r *Request) upgrade(ctx context.Context, a *Assessor, flags Flags) (*refitv1alpha1.ClusterUpgrade, error) {
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if r.Manifest != "" {
		raw, err := a.Reader.ReadFile(r.Manifest)
		if err != nil {
			return nil, fmt.Errorf("cannot read the manifest: %w", err)
		}
		if upgrade, err = a.ReadManifest(document.NameOf(r.Manifest), raw); err != nil {
			return nil, err
		}
	}
	var err error
	if r.waivers, err = flags.Apply(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	resolve := func(minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) {
		return r.resolveMinor(ctx, a, minor, spec)
	}
	if err := flags.ApplyTarget(&upgrade.Spec, resolve); err != nil {
		return nil, err
	}
	if r.Components {
		if err := r.stay(ctx, a, &upgrade.Spec); err != nil {
			return nil, err
		}
	}
	if err := request.Validate(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return upgrade, nil
}

// stay sets the target to the version that runs.
func (r *Request) stay(ctx context.Context, a *Assessor, spec *refitv1alpha1.ClusterUpgradeSpec) error {
	if err := r.read(ctx, a); err != nil {
		return err
	}
	target, err := assess.ComponentsOnly(r.observed.Snapshot, *spec)
	if err != nil {
		return exit.Usagef("--components: %w", err)
	}
	spec.Target = target
	return nil
}

// resolveMinor returns the newest patch release of a minor version that a ClusterRelease in the
// cluster has.
func (r *Request) resolveMinor(ctx context.Context, a *Assessor, minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) {
	if err := r.read(ctx, a); err != nil {
		return "", err
	}
	version, err := assess.NewestPatch(minor, r.observed.Snapshot, spec)
	if err != nil {
		return "", exit.Usagef("--to v%s: %w", minor, err)
	}
	return version, nil
}
