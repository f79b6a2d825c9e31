package skew

import "fmt"

// Path leads a cluster from one version to another.
type Path struct {
	From Version // of the control plane
	To   Version
	// Hops are the versions of the control plane. All but the last are minor versions: a
	// ClusterRelease sets the patch version. A patch release is one hop. The first hop is the
	// control plane's current version if workers must catch up first.
	Hops []Version
	// WorkersFollow is, for each hop, whether workers are upgraded after the control plane.
	WorkersFollow []bool
}

// Scope is which parts of the cluster are upgraded.
type Scope struct{ ControlPlane, Workers bool }

// PathBetween finds the path: the control plane one minor version at a time, and the workers as
// seldom as the skew policy allows. oldest is the oldest kubelet of a worker, zero if there is
// none.
func PathBetween(from, to, oldest Version, scope Scope) (Path, error) {
	path := Path{From: from, To: to}
	if to.Before(from) && scope.ControlPlane {
		return path, fmt.Errorf("the control plane runs %s, and Kubernetes does not support a downgrade to %s", from, to)
	}
	if !scope.ControlPlane {
		if !KubeletFits(to, from) {
			return path, fmt.Errorf("workers at %s are not supported with a control plane at %s: they may be at most %d minor versions older, and never newer",
				to, from, KubeletMinorsBehind)
		}
		path.Hops, path.WorkersFollow = []Version{to}, []bool{true}
		return path, nil
	}
	for minor := from.Minor + 1; minor < to.Minor; minor++ {
		path.Hops = append(path.Hops, Version{Major: to.Major, Minor: minor})
	}
	path.Hops = append(path.Hops, to)
	if scope.Workers && !oldest.IsZero() && !KubeletFits(oldest, path.Hops[0]) {
		path.Hops = append([]Version{from}, path.Hops...)
	}
	path.WorkersFollow = workersFollow(path.Hops, oldest, scope.Workers)
	return path, nil
}

// workersFollow upgrades workers as late as possible: before the first hop whose API servers would
// not support the oldest of them, and in the last hop. If only the control plane is upgraded,
// workers never follow, and preflight blocks a hop that would leave one behind.
func workersFollow(hops []Version, oldest Version, workers bool) []bool {
	follow := make([]bool, len(hops))
	if !workers {
		return follow
	}
	for i, hop := range hops {
		last := i == len(hops)-1
		if last || (!oldest.IsZero() && !KubeletFits(oldest, hops[i+1])) {
			follow[i] = true
			oldest = hop
		}
	}
	return follow
}
