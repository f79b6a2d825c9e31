package clustertest

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// The version of every Synthetic cluster.
const syntheticVersion = "v1.35.4"

// pools are the values of the label "pool", and the share of the workers that has them, in percent.
var pools = []struct {
	name  string
	share int
}{{"general", 70}, {"batch", 20}, {"storage", 10}}

// Synthetic is a large cluster at v1.35.4: three control plane nodes and workers, together as many as asked for, with about so many pods on them.
// Workers are in three zones and in the pools general, batch and storage (label "pool"). Of the workloads most are Deployments; some are DaemonSets
// on all nodes, StatefulSets bound to local volumes, Jobs, and pods of nobody. Every third Deployment has a budget, one in fifty of those allows nothing.
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

// generator adds workloads one after the other.
type generator struct {
	s    *cluster.Snapshot
	dice dice
	made int
	left int // pods to be made
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
	case g.made <= 4 && g.left >= len(g.s.Nodes): // a CNI, a CSI driver, a log and a metrics collector
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

// guard gives a workload a budget.
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

// spread puts the pods on workers that lie apart, as a scheduler would; without workers on the control plane.
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

// dice are numbers that look random and are the same for the same seed (splitmix64).
type dice uint64

func (d *dice) roll(sides int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(sides))
}
