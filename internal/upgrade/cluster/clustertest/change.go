package clustertest

import (
	"fmt"
	"maps"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Change changes a healthy cluster.
type Change func(*cluster.Snapshot)

// OnNode changes one node, which must exist.
func OnNode(name string, change func(*cluster.Node)) Change {
	return func(s *cluster.Snapshot) { change(mustFind(s, name)) }
}

// OnEveryNode changes all nodes.
func OnEveryNode(change func(*cluster.Node)) Change {
	return func(s *cluster.Snapshot) {
		for i := range s.Nodes {
			change(&s.Nodes[i])
		}
	}
}

// Pods adds a workload with this many ready pods on each node.
func Pods(w cluster.Workload, onNodes map[string]int32) Change {
	return func(s *cluster.Snapshot) {
		// A change may be applied to several clusters.
		w, place, left := w, len(s.Workloads), maps.Clone(onNodes)
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if count := left[n.Name]; count > 0 {
				n.Pods = append(n.Pods, cluster.PodSet{Workload: place, Count: count})
				w.Pods += count
				w.Ready += count
			}
			delete(left, n.Name)
		}
		if len(left) > 0 {
			panic(fmt.Sprintf("clustertest: nodes %v do not exist", slices.Sorted(maps.Keys(left))))
		}
		s.Workloads = append(s.Workloads, w)
	}
}

// Budget adds a PodDisruptionBudget for workloads of its namespace that allows this many
// disruptions.
func Budget(namespace, name string, allowed int32, workloads ...string) Change {
	return func(s *cluster.Snapshot) {
		b := cluster.Budget{Namespace: namespace, Name: name, MaxUnavailable: fmt.Sprint(allowed), Allowed: allowed, Observed: true}
		for i := range s.Workloads {
			if w := &s.Workloads[i]; w.Namespace == namespace && slices.Contains(workloads, w.Name) {
				w.Budgets = append(w.Budgets, name)
				b.Matched += w.Pods
				b.Healthy += w.Ready
			}
		}
		b.Expected, b.Desired = b.Matched, max(0, b.Matched-allowed)
		s.Budgets = append(s.Budgets, b)
	}
}

// Released adds a ClusterRelease for each of these versions of Kubernetes.
func Released(versions ...string) Change {
	return func(s *cluster.Snapshot) {
		for _, version := range versions {
			s.Releases = append(s.Releases, cluster.Release{
				Name: "kubernetes-" + version, Digest: fmt.Sprintf("sha256:%064x", len(s.Releases)+1),
				Payload: refitv1alpha1.ReleasePayload{Kubernetes: version, Files: DebFiles(version)},
			})
		}
	}
}

// Unread marks a part as one that could not be read. The test must clear the data of the part.
func Unread(part cluster.Part, why cluster.GapKind) Change {
	return func(s *cluster.Snapshot) {
		s.Gaps = append(s.Gaps, cluster.Gap{Part: part, Kind: why, Message: fmt.Sprintf("%s are %s in this test", part, why)})
	}
}

// WithOperation sets the operation of the Snapshot.
func WithOperation(name string, spec refitv1alpha1.ClusterUpgradeSpec) Change {
	return func(s *cluster.Snapshot) {
		s.Operation = &cluster.Operation{Name: name, UID: name + "-uid", Generation: 1, Spec: spec}
	}
}

func mustFind(s *cluster.Snapshot, name string) *cluster.Node {
	n := s.Node(name)
	if n == nil {
		panic(fmt.Sprintf("clustertest: node %q does not exist", name))
	}
	return n
}
