package assess

import (
	"errors"
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// ComponentsOnly returns the target of an upgrade of components alone: the version of Kubernetes
// that runs, or the ClusterRelease of it that the spec names. Its error is about a spec or a
// cluster with which nodes would change, too, or no component could.
func ComponentsOnly(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (refitv1alpha1.Target, error) {
	version, others, err := plan.RunningVersion(s, spec)
	if err != nil {
		return refitv1alpha1.Target{}, err
	}
	if spec.Scope != "" && spec.Scope != refitv1alpha1.ScopeAll || len(spec.NodeSelector) > 0 {
		return refitv1alpha1.Target{}, errors.New("no node changes, so the scope and the node selector of the manifest must be empty")
	}
	target := spec.Target
	if target == (refitv1alpha1.Target{}) {
		target.Kubernetes = version.String()
	}
	spec.Target = target
	path, err := plan.PathOf(s, spec)
	if err != nil && !errors.Is(err, plan.ErrTarget) || target.Release != "" && err != nil {
		return target, err
	}
	switch {
	case err != nil || path.To != version:
		to := target.Kubernetes
		if to == "" {
			to = path.To.String()
		}
		return target, fmt.Errorf("the cluster runs Kubernetes %s, and the target is %s: omit --components to upgrade Kubernetes with the components, "+
			"or omit the target", version, to)
	case len(others) > 0:
		return target, fmt.Errorf("the control plane runs Kubernetes %s, and %s another version, so that they would be upgraded, too: "+
			"upgrade with --to %s instead", version, run(others), version)
	}
	release := policy.ReleaseFor(s, &spec, version, version, true)
	if release == nil {
		return target, fmt.Errorf("the cluster has no ClusterRelease of Kubernetes %s, which it runs: "+
			"create one with components (`refit release add %s --components FILE`)", version, version)
	}
	if len(release.Components) == 0 && release.ComponentsError == "" {
		return target, noComponents(s, release)
	}
	return target, nil
}

func run(nodes []string) string {
	verb := " runs"
	if len(nodes) > 1 {
		verb = " run"
	}
	return phrase.Fold(nodes, phrase.FewNames) + verb
}

// noComponents is the error for a ClusterRelease without components. It names those of the same
// version that have some.
func noComponents(s *cluster.Snapshot, release *cluster.Release) error {
	var names []string
	for i := range s.Releases {
		if r := &s.Releases[i]; r.Error == "" && r.Payload.Kubernetes == release.Payload.Kubernetes && len(r.Components) > 0 {
			names = append(names, r.Name)
		}
	}
	slices.Sort(names)
	if len(names) > 0 {
		return fmt.Errorf("ClusterRelease %s has no components: select one that has some with --release: %s", release.Name, phrase.List(names))
	}
	return fmt.Errorf("ClusterRelease %s has no components, and no other one of Kubernetes %s has: there is nothing to upgrade",
		release.Name, release.Payload.Kubernetes)
}
