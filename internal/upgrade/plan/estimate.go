package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

// The defaults for a cluster without earlier upgrades. They are meant to be right within a factor
// of two.
const (
	defaultFetch        = 30 * time.Second
	defaultImages       = 10 * time.Second // of components, on a node that is not upgraded
	defaultControlPlane = 90 * time.Second
	defaultWorker       = 45 * time.Second
	defaultDrain        = 30 * time.Second
	defaultVerify       = 30 * time.Second
	defaultComponent    = 90 * time.Second
)

// UsualTime is how long a stage of so many nodes or components takes by the defaults. It serves to
// compare stages.
func UsualTime(stage refitv1alpha1.StageName, nodes int32) time.Duration {
	switch stage {
	case refitv1alpha1.StagePrefetch:
		return defaultFetch
	case refitv1alpha1.StageBackup:
		return defaultBackup
	case refitv1alpha1.StageRehearsal:
		return defaultRehearsal
	case refitv1alpha1.StageControlPlane:
		return time.Duration(nodes) * (defaultControlPlane + defaultDrain)
	case refitv1alpha1.StageComponentsBefore, refitv1alpha1.StageComponents:
		return time.Duration(nodes) * defaultComponent
	case refitv1alpha1.StageWorkers:
		return time.Duration(nodes) * (defaultWorker + defaultDrain)
	case refitv1alpha1.StageVerify:
		return defaultVerify
	}
	return 0
}

// times are how long parts of an upgrade took in this cluster, zero if unknown.
type times struct{ controlPlane, worker, drain time.Duration }

// samples are how long each part of the earlier upgrades took.
type samples struct{ controlPlane, worker, drain []time.Duration }

// times returns the medians.
func (s samples) times() times {
	return times{controlPlane: median(s.controlPlane), worker: median(s.worker), drain: median(s.drain)}
}

// observedTimes takes them from the last upgrade of each node, whichever operation it was for.
func observedTimes(s *cluster.Snapshot) (out samples) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Upgrade == nil {
			continue
		}
		status := &n.Upgrade.Status
		if status.Phase == refitv1alpha1.NodeSucceeded && status.StartTime != nil && status.CompletionTime != nil {
			took := status.CompletionTime.Sub(status.StartTime.Time)
			if n.ControlPlane {
				out.controlPlane = append(out.controlPlane, took)
			} else {
				out.worker = append(out.worker, took)
			}
		}
		if d := status.Drain; d != nil && d.Phase == refitv1alpha1.DrainDrained && d.StartTime != nil && d.CompletionTime != nil {
			out.drain = append(out.drain, d.CompletionTime.Sub(d.StartTime.Time))
		}
	}
	return out
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return max(time.Second, all[len(all)/2])
}

// node is the estimate of one node.
func (t times) node(n *cluster.Node, drained bool, drain *disruption.NodeDrain) Estimate {
	took, usual := t.worker, defaultWorker
	if n.ControlPlane {
		took, usual = t.controlPlane, defaultControlPlane
	}
	out := Estimate{Expected: took, Observed: took > 0}
	if took == 0 {
		out.Expected = usual
	}
	if !drained || drain == nil || drain.Moves == 0 {
		return out
	}
	if t.drain > 0 {
		out.Expected += t.drain
		return out
	}
	out.Expected += defaultDrain
	for _, wait := range drain.Waits { // a budget that allows evictions in rounds only
		out.Expected += time.Duration(wait.Rounds-1) * defaultDrain
	}
	return out
}

// prefetchEstimate assumes that as many nodes prefetch at a time as may.
func prefetchEstimate(steps []NodeStep) Estimate {
	var out Estimate
	var upgraded, upToDate int // workers
	for i := range steps {
		switch step := &steps[i]; {
		case step.Pool == "" && step.UpToDate:
			out.Expected += defaultImages
		case step.Pool == "":
			out.Expected += defaultFetch
		case step.UpToDate:
			upToDate++
		default:
			upgraded++
		}
	}
	limit := prefetchLimit(upgraded + upToDate)
	out.Expected += time.Duration((upgraded+limit-1)/limit)*defaultFetch + time.Duration((upToDate+limit-1)/limit)*defaultImages
	return out
}

// poolEstimate assumes that the pool's window is always full, zone by zone, after its canary.
func poolEstimate(pool *Pool, steps []NodeStep) Estimate {
	var out Estimate
	window := min(pool.MaxUnavailable, refitv1alpha1.MaxActive)
	for from := 0; from < len(steps); {
		to := from
		var zone Estimate
		for ; to < len(steps) && steps[to].Zone == steps[from].Zone; to++ {
			zone = zone.plus(steps[to].Estimate)
		}
		rounds := (to - from + window - 1) / window
		zone.Expected = zone.Expected / time.Duration(to-from) * time.Duration(rounds)
		out = out.plus(zone)
		from = to
	}
	if pool.Canary != nil && len(steps) > int(pool.Canary.Nodes) {
		out.Expected += pool.Canary.Soak.Duration
	}
	return out
}

func (e Estimate) plus(f Estimate) Estimate {
	return Estimate{Expected: e.Expected + f.Expected, Observed: e.Observed || f.Observed}
}

func (e Estimate) longer(f Estimate) Estimate {
	return Estimate{Expected: max(e.Expected, f.Expected), Observed: e.Observed || f.Observed}
}

// duration formats a duration for messages.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
