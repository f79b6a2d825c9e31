package skew

import "fmt"

// Path is the way of a cluster from one version to another.
type Path struct {
	From Version // of the control plane
	To   Version
	// Hops are the control plane's versions on the way. Only minor versions are known but for the last hop: a ClusterRelease decides the patch.
	// A patch release is one hop. The first hop is the version that the control plane has already when workers must catch up before it can move.
	Hops []Version
	// WorkersFollow holds, for each hop, whether the workers go to its version once the control plane is there.
	WorkersFollow []bool
}

// Scope is which parts of the cluster move.
type Scope struct{ ControlPlane, Workers bool }

// PathBetween plans the way: one minor version of the control plane at a time, and the workers as seldom as the skew policy allows.
// oldest is the oldest kubelet of a node that is not of the control plane, zero if there is none.
func PathBetween(from, to, oldest Version, scope Scope) (Path, error) {
	path := Path{From: from, To: to}
	if to.Before(from) && scope.ControlPlane {
		return path, fmt.Errorf("the control plane is at %s already: Kubernetes cannot go back to %s", from, to)
	}
	if !scope.ControlPlane {
		if !KubeletFits(to, from) {
			return path, fmt.Errorf("workers at %s do not fit a control plane at %s: they may be at most %d minor versions older and never newer",
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

// workersFollow lets the workers wait as long as the next hop's API servers still accept the oldest of them. The last hop always takes them along.
// When only the control plane moves, workers never follow, and a hop that leaves one behind is preflight's to refuse.
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
