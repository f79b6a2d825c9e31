package plan

import (
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// ErrTarget means that no path leads to the target, so the user has to choose another one. Other
// errors are about the cluster.
var ErrTarget = errors.New("cannot reach the target")

// targetError is an ErrTarget with a message of its own.
type targetError struct{ error }

func (targetError) Is(target error) bool { return target == ErrTarget }

func (e targetError) Unwrap() error { return e.error }

// releaseNotFound is the error for a ClusterRelease that does not exist, or no longer.
type releaseNotFound struct {
	name  string
	found []cluster.Release
}

func (e releaseNotFound) Error() string {
	message := fmt.Sprintf("ClusterRelease %s not found", e.name)
	var others []string
	for i := range e.found {
		others = append(others, e.found[i].Name)
	}
	if len(others) == 0 {
		return message
	}
	return message + "; the cluster has " + phrase.Fold(others, phrase.FewNames)
}

// PathOf finds the path from the cluster's versions to the spec's target. It follows an operation's
// recorded path to its end: a path does not become shorter because a part of it is complete.
func PathOf(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (skew.Path, error) {
	spec = policy.Defaulted(spec)
	to, err := target(s, spec.Target)
	if err != nil {
		return skew.Path{}, targetError{err}
	}
	from, oldest, err := start(s)
	if err != nil {
		return skew.Path{}, err
	}
	path, err := skew.PathBetween(from, to, oldest, skew.Scope{
		ControlPlane: spec.Scope != refitv1alpha1.ScopeWorkers,
		Workers:      spec.Scope != refitv1alpha1.ScopeControlPlane,
	})
	if err != nil {
		return path, targetError{err}
	}
	return path, nil
}

// target is the target version.
func target(s *cluster.Snapshot, t refitv1alpha1.Target) (skew.Version, error) {
	if t.Release == "" {
		if t.Kubernetes == "" {
			return skew.Version{}, errors.New("no target: set a version such as v1.36.3, or a ClusterRelease")
		}
		return skew.Parse(t.Kubernetes)
	}
	for _, release := range s.Releases {
		if release.Name != t.Release {
			continue
		}
		if release.Error != "" {
			return skew.Version{}, fmt.Errorf("cannot use ClusterRelease %s: %s", release.Name, release.Error)
		}
		return skew.Parse(release.Payload.Kubernetes)
	}
	return skew.Version{}, releaseNotFound{t.Release, s.Releases}
}

// start is where the path starts: the oldest API server, and the oldest kubelet of a worker. The
// operation's record takes precedence over the current versions.
func start(s *cluster.Snapshot) (from, oldest skew.Version, err error) {
	if s.Operation != nil && s.Operation.Plan != nil {
		recorded := s.Operation.Plan
		if from, err = skew.Parse(recorded.From); err != nil {
			return from, oldest, fmt.Errorf("cannot read the recorded plan: %w", err)
		}
		if recorded.WorkersFrom != "" {
			oldest, err = skew.Parse(recorded.WorkersFrom)
		}
		return from, oldest, err
	}
	from = controlPlaneVersion(s)
	if from.IsZero() {
		return from, oldest, errUnknownVersion
	}
	for _, n := range s.Workers() {
		v := kubeletVersion(n)
		if v.IsZero() { // it has just joined; a check and a gate require its version
			continue
		}
		if oldest.IsZero() || v.Before(oldest) {
			oldest = v
		}
	}
	return from, oldest, nil
}

// RunningVersion returns the version of Kubernetes that the control plane runs, and the nodes that
// an upgrade to it would change. A kubelet of a newer patch release stays as it is.
func RunningVersion(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (version skew.Version, others []string, err error) {
	spec = policy.Defaulted(spec)
	if version = controlPlaneVersion(s); version.IsZero() {
		return version, nil, errUnknownVersion
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if policy.Exclusion(&spec, n) != "" {
			continue
		}
		if kubeletVersion(n).Before(version) || n.ControlPlane && s.APIServerVersion(n) != version {
			others = append(others, n.Name)
		}
	}
	return version, others, nil
}

var errUnknownVersion = errors.New("the version of the control plane is unknown: no API server reports one")

// controlPlaneVersion is the oldest version of an API server. The endpoint's own version counts
// only if no server's is known: behind a load balancer it is that of whichever server responded.
func controlPlaneVersion(s *cluster.Snapshot) skew.Version {
	var oldest skew.Version
	for _, n := range s.ControlPlane() {
		v := s.APIServerVersion(n)
		if !v.IsZero() && (oldest.IsZero() || v.Before(oldest)) {
			oldest = v
		}
	}
	if oldest.IsZero() {
		oldest, _ = skew.Parse(s.Version) // zero if it is unknown too
	}
	return oldest
}

// kubeletVersion is zero if the node does not report it.
func kubeletVersion(n *cluster.Node) skew.Version {
	v, _ := skew.Parse(n.Kubelet)
	return v
}
