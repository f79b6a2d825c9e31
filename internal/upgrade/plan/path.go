package plan

import (
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// ErrTarget is that what was asked for cannot be reached, whatever the cluster does: the person has to ask for something else. Other errors are about the
// cluster.
var ErrTarget = errors.New("the target cannot be reached")

// targetError is an error that is ErrTarget and speaks for itself.
type targetError struct{ error }

func (targetError) Is(target error) bool { return target == ErrTarget }

// PathOf finds the way of this cluster to what the spec asks for. An operation's recorded path is followed to its end: it does not become shorter
// because a part of it lies behind.
// An error is a target that cannot be reached at all, in words for the person who asked.
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

// target is the version that the spec asks for.
func target(s *cluster.Snapshot, t refitv1alpha1.Target) (skew.Version, error) {
	if t.Release == "" {
		if t.Kubernetes == "" {
			return skew.Version{}, errors.New("no target: name a version such as v1.36.3, or a ClusterRelease")
		}
		return skew.Parse(t.Kubernetes)
	}
	for _, release := range s.Releases {
		if release.Name != t.Release {
			continue
		}
		if release.Error != "" {
			return skew.Version{}, fmt.Errorf("the ClusterRelease %s cannot be used: %s", release.Name, release.Error)
		}
		return skew.Parse(release.Payload.Kubernetes)
	}
	return skew.Version{}, fmt.Errorf("there is no ClusterRelease %s in the cluster", t.Release)
}

// start is where the path begins: the oldest API server, and the oldest kubelet of a worker. The operation's record goes before what is seen now.
func start(s *cluster.Snapshot) (from, oldest skew.Version, err error) {
	if s.Operation != nil && s.Operation.Plan != nil {
		recorded := s.Operation.Plan
		if from, err = skew.Parse(recorded.From); err != nil {
			return from, oldest, fmt.Errorf("read the recorded plan: %w", err)
		}
		if recorded.WorkersFrom != "" {
			oldest, err = skew.Parse(recorded.WorkersFrom)
		}
		return from, oldest, err
	}
	from = controlPlaneVersion(s)
	if from.IsZero() {
		return from, oldest, errors.New("the version of the control plane is not known: no API server told its version")
	}
	for _, n := range s.Workers() {
		v := kubeletVersion(n)
		if v.IsZero() { // it has joined a moment ago; a check and a gate ask for its version
			continue
		}
		if oldest.IsZero() || v.Before(oldest) {
			oldest = v
		}
	}
	return from, oldest, nil
}

// controlPlaneVersion is the oldest version of an API server. The endpoint's own answer counts only when no server could be asked: behind a load
// balancer it is the version of whichever server answered.
func controlPlaneVersion(s *cluster.Snapshot) skew.Version {
	var oldest skew.Version
	for _, n := range s.ControlPlane() {
		v := s.APIServerVersion(n)
		if !v.IsZero() && (oldest.IsZero() || v.Before(oldest)) {
			oldest = v
		}
	}
	if oldest.IsZero() {
		oldest, _ = skew.Parse(s.Version) // zero if that is unknown too
	}
	return oldest
}

// kubeletVersion is zero when the node does not tell it.
func kubeletVersion(n *cluster.Node) skew.Version {
	v, _ := skew.Parse(n.Kubelet)
	return v
}
