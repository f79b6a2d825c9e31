package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func pauses(w *world) bool {
	if w.op.Spec.Paused {
		return false
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = true }, "the user pauses")
	return true
}

func resumes(w *world) bool {
	if !w.op.Spec.Paused {
		return false
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = false }, "the user resumes")
	return true
}

func retries(w *world) bool {
	w.retry()
	return true
}

func aborts(w *world) bool {
	if w.op.Spec.Aborted || w.dice.IntN(3) > 0 {
		return false
	}
	w.abort()
	return true
}

// changesPool changes a policy, which changes the plan.
func changesPool(w *world) bool {
	if w.dice.IntN(3) > 0 {
		return false
	}
	w.meaning++
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		pool := &spec.Pools[w.dice.IntN(len(spec.Pools))]
		drawn := randomPool(w.dice, pool.Name)
		drawn.NodeSelector = pool.NodeSelector
		*pool = drawn
	}, "the user changes a pool")
	return true
}

func olderAppears(w *world) bool {
	if w.older != "" {
		return false
	}
	w.note("! an older operation appears that has not ended")
	w.older = "older"
	return true
}

func olderEnds(w *world) bool {
	if w.older == "" {
		return false
	}
	w.note("! the older operation ends")
	w.older = ""
	return true
}

func approves(w *world) bool {
	w.approve()
	return true
}

// withdraws removes the approval, or replaces it by that of another plan.
func withdraws(w *world) bool {
	if w.op.Spec.ApprovedPlan == "" {
		return false
	}
	other := ""
	if w.dice.IntN(2) == 0 {
		other = fmt.Sprintf("sha256:%064x", w.dice.Uint64())
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.ApprovedPlan = other }, "the user withdraws the approval")
	return true
}

func releaseDeleted(w *world) bool {
	deleted := !slices.ContainsFunc(w.releases, func(r cluster.Release) bool { return r.Name == w.op.Spec.Target.Release })
	if w.op.Spec.Target.Release == "" || w.op.Plan == nil || deleted || w.dice.IntN(2) == 0 {
		return false
	}
	w.deleteRelease()
	return true
}

func releaseAppears(w *world) bool {
	if len(w.observe().plan(w).Hops) == 0 {
		return false
	}
	version := w.versionOf(nil)
	if version == "" {
		version = "v1.36.9" // newer than the operation's plan
	}
	if slices.ContainsFunc(w.releases, func(r cluster.Release) bool { return r.Payload.Kubernetes == version }) {
		return false
	}
	w.release(version)
	return true
}
