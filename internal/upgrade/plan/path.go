package plan

import (
	"errors"
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// PathOf finds the way of this cluster to what the spec asks for. An operation's recorded path is followed to its end: it does not become shorter
// because a part of it lies behind.
// An error is a target that cannot be reached at all, in words for the person who asked.
func PathOf(s *cluster.Snapshot, spec refitv1alpha1.ClusterUpgradeSpec) (skew.Path, error) {
	spec = Defaulted(spec)
	to, err := target(s, spec.Target)
	if err != nil {
		return skew.Path{}, err
	}
	from, oldest, err := start(s)
	if err != nil {
		return skew.Path{}, err
	}
	return skew.PathBetween(from, to, oldest, skew.Scope{
		ControlPlane: spec.Scope != refitv1alpha1.ScopeWorkers,
		Workers:      spec.Scope != refitv1alpha1.ScopeControlPlane,
	})
}

// target is the version that the spec asks for.
func target(s *cluster.Snapshot, t refitv1alpha1.Target) (skew.Version, error) {
	if t.Release == "" {
		if t.Kubernetes == "" {
			return skew.Version{}, errors.New("no target: name a version such as v1.36.3, or a Release")
		}
		return skew.Parse(t.Kubernetes)
	}
	for _, release := range s.Releases {
		if release.Name != t.Release {
			continue
		}
		if release.Error != "" {
			return skew.Version{}, fmt.Errorf("the Release %s cannot be used: %s", release.Name, release.Error)
		}
		return skew.Parse(release.Payload.Kubernetes)
	}
	return skew.Version{}, fmt.Errorf("there is no Release %s in the cluster", t.Release)
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
		v, err := skew.Parse(n.Kubelet)
		if err != nil {
			return from, oldest, fmt.Errorf("node %s: %w", n.Name, err)
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
		v := apiServerVersion(s, n)
		if !v.IsZero() && (oldest.IsZero() || v.Before(oldest)) {
			oldest = v
		}
	}
	if oldest.IsZero() {
		oldest, _ = skew.Parse(s.Version) // zero if that is unknown too
	}
	return oldest
}

// apiServerVersion is the version of a node's API server: what the server itself said, else what its agent or its pod's image says.
func apiServerVersion(s *cluster.Snapshot, n *cluster.Node) skew.Version {
	said := []string{}
	if server := s.APIServer(n.Name); server != nil {
		said = append(said, server.Version)
	}
	if n.Report != nil && n.Report.APIServer != nil {
		said = append(said, n.Report.APIServer.Version)
	}
	said = append(said, n.Static["kube-apiserver"].Version)
	for _, text := range said {
		if v, err := skew.Parse(text); err == nil {
			return v
		}
	}
	return skew.Version{}
}

// kubeletVersion is zero when the node does not tell it.
func kubeletVersion(n *cluster.Node) skew.Version {
	v, _ := skew.Parse(n.Kubelet)
	return v
}
