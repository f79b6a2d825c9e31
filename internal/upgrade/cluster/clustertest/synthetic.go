package clustertest

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// syntheticVersion is the version of every Synthetic cluster.
const syntheticVersion = "v1.35.4"

// pools are the values of the label "pool" and their percentages of the workers.
var pools = []struct {
	name  string
	share int
}{{"general", 70}, {"batch", 20}, {"storage", 10}}

// Synthetic returns a large cluster at v1.35.4 with three control plane nodes, this many nodes in
// total and about this many pods. Workers are in three zones and in the pools general, batch and
// storage (label "pool"). Most workloads are Deployments; some are DaemonSets, StatefulSets bound
// to local volumes, Jobs, and pods without a controller. Every third Deployment has a PDB, and
// every 50th of those allows no disruption.
func Synthetic(nodes, pods int, seed uint64) *cluster.Snapshot {
	s := HA(syntheticVersion, 3, max(0, nodes-3))
	for i, n := range s.Workers() {
		n.Labels["pool"] = poolOf(i)
		n.Allocatable = cluster.Resources{MilliCPU: 32000, Memory: 128 << 30, Pods: 250}
	}
	g := &generator{s: s, dice: dice(seed), left: pods}
	for i := range s.Workloads {
		g.left -= int(s.Workloads[i].Pods)
	}
	for g.left > 0 {
		g.add()
	}
	return s
}

func poolOf(i int) string {
	place := i * 37 % 100
	for _, p := range pools {
		if place < p.share {
			return p.name
		}
		place -= p.share
	}
	return pools[0].name
}

// generator adds workloads.
type generator struct {
	s    *cluster.Snapshot
	dice dice
	made int
	left int // pods to add
}

func (g *generator) add() {
	g.made++
	w := cluster.Workload{
		Namespace: fmt.Sprintf("team-%02d", g.dice.roll(40)), Kind: "Deployment", Name: fmt.Sprintf("app-%05d", g.made),
		Request:      cluster.Resources{MilliCPU: int64(1+g.dice.roll(10)) * 50, Memory: int64(1+g.dice.roll(16)) * 64 << 20},
		GraceSeconds: 30, LocalData: g.dice.roll(4) == 0,
	}
	replicas := 1 + g.dice.roll(20)
	switch kind := g.dice.roll(100); {
	case g.made <= 4 && g.left >= len(g.s.Nodes):
		// A CNI, a CSI driver, a log and a metrics collector.
		w.Namespace, w.Kind, w.LocalData = "kube-system", "DaemonSet", false
		g.everywhere(w)
		return
	case kind < 8:
		w.Kind, w.LocalVolume, w.LocalData, replicas = "StatefulSet", true, false, 3
	case kind < 13:
		w.Kind, replicas = "Job", 1
	case kind < 15:
		w.Kind, replicas = "Pod", 1
	}
	replicas = min(replicas, g.left)
	if w.Kind == "Deployment" && g.made%3 == 0 {
		g.guard(&w, int32(replicas))
	}
	g.spread(w, replicas)
}

// guard adds a PDB for a workload.
func (g *generator) guard(w *cluster.Workload, replicas int32) {
	b := cluster.Budget{
		Namespace: w.Namespace, Name: w.Name, MaxUnavailable: "1", Expected: replicas, Healthy: replicas, Matched: replicas,
		Desired: replicas - 1, Allowed: 1, Observed: true,
	}
	if g.made%150 == 0 {
		b.MaxUnavailable, b.Desired, b.Allowed = "0", replicas, 0
	}
	w.Budgets = []string{b.Name}
	g.s.Budgets = append(g.s.Budgets, b)
}

func (g *generator) everywhere(w cluster.Workload) {
	place := len(g.s.Workloads)
	for i := range g.s.Nodes {
		g.s.Nodes[i].Pods = append(g.s.Nodes[i].Pods, cluster.PodSet{Workload: place, Count: 1})
	}
	g.finish(w, len(g.s.Nodes))
}

// spread places the pods on distant workers, or on the control plane if there are no workers.
func (g *generator) spread(w cluster.Workload, replicas int) {
	place := len(g.s.Workloads)
	first, hosts := 3, len(g.s.Nodes)-3
	if hosts <= 0 {
		first, hosts = 0, len(g.s.Nodes)
	}
	start := g.dice.roll(hosts)
	for i := range replicas {
		n := &g.s.Nodes[first+(start+i*max(1, hosts/20))%hosts]
		if last := len(n.Pods) - 1; last >= 0 && n.Pods[last].Workload == place {
			n.Pods[last].Count++
		} else {
			n.Pods = append(n.Pods, cluster.PodSet{Workload: place, Count: 1})
		}
	}
	g.finish(w, replicas)
}

func (g *generator) finish(w cluster.Workload, pods int) {
	g.left -= pods
	w.Pods, w.Ready = int32(pods), int32(pods)
	g.s.Workloads = append(g.s.Workloads, w)
}

// dice generates pseudo-random numbers that depend only on the seed (splitmix64).
type dice uint64

func (d *dice) roll(sides int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(sides))
}
