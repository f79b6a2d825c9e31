package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Progress is how far a drain is.
type Progress struct {
	Remaining int32 // pods that still have to go
	// Blockers are all that cannot go now and why, the most important first: of each reason one pod, then the next. The pod "*" stands for all of them.
	Blockers []refitv1alpha1.Blocker
	Moving   bool // at least one pod is on its way: asked to go, and within its time

	Evicted, Refused, Deleted int64 // so far in this drain: pods, answers, pods
}

func (p Progress) equal(other Progress) bool {
	return p.Remaining == other.Remaining && p.Moving == other.Moving && p.Evicted == other.Evicted && p.Refused == other.Refused &&
		p.Deleted == other.Deleted && slices.Equal(p.Blockers, other.Blockers)
}

const (
	everything = "*"
	// finalizerJob is on every pod of a Job and goes by itself when the pod ends, so it holds nobody up.
	finalizerJob = "batch.kubernetes.io/job-tracking"
)

// rank is how important a reason is.
type rank int

const (
	none rank = iota
	lacksRight
	lacksAPI
	belongsToNobody
	coveredTwice
	outlivesItsTime
	heldByBudget
	heldByOthers
	endsWithNamespace
)

// blocker is a Blocker and where it stands in the list.
type blocker struct {
	refitv1alpha1.Blocker

	nth  int // of those with the same reason
	rank rank
}

// progress says how far the drain is.
func (v *view) progress(now time.Time) Progress {
	p := Progress{Remaining: int32(len(v.pods)), Evicted: v.evicted, Refused: v.refused, Deleted: v.deleted}
	var found []blocker
	if v.missing != nil {
		found = append(found, blocker{Blocker: *v.missing, rank: lacksRight})
	}
	if v.link.away(now) {
		found = append(found, blocker{Blocker: refitv1alpha1.Blocker{Pod: everything, Reason: "the API does not answer"}, rank: lacksAPI})
	}
	nth := map[string]int{}
	for _, pod := range inOrder(v.pods) {
		p.Moving = p.Moving || (pod.leaving() && now.Before(pod.due()))
		if r, why := v.why(pod, now); r != none {
			found = append(found, blocker{Blocker: refitv1alpha1.Blocker{Pod: pod.key().String(), Reason: why}, nth: nth[why], rank: r})
			nth[why]++
		}
	}
	slices.SortStableFunc(found, func(a, b blocker) int { return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.rank, b.rank)) })
	for _, b := range found {
		p.Blockers = append(p.Blockers, b.Blocker)
	}
	return p
}

// why says why a pod cannot go now, if that is so.
func (v *view) why(p *pod, now time.Time) (rank, string) {
	if p.leaving() {
		if now.Before(p.due()) || v.link.away(now) { // while the API is away, nobody knows
			return none, ""
		}
		return outlivesItsTime, outlives(p)
	}
	covering, _ := v.covering(p)
	holds := !v.order.Delete
	switch {
	case v.stays(p):
		return belongsToNobody, "belongs to nobody: it would be gone for good (waive UnmanagedPod for it, or delete it)"
	case p.ending:
		return endsWithNamespace, "its namespace is being deleted, and it ends with that"
	case holds && len(covering) > 1:
		return coveredTwice, reason("PodDisruptionBudgets %s and %s both cover it, and such a pod cannot be evicted: leave one of them",
			covering[0].key.Name, covering[1].key.Name)
	case holds && p.crossed:
		return coveredTwice, "two PodDisruptionBudgets cover it, and such a pod cannot be evicted: leave one of them"
	case holds && len(covering) == 1 && !covering[0].lets(p) && (!p.flying || covering[0].refused(p)):
		return heldByBudget, nameFirst("PodDisruptionBudget", covering[0].key.String(), covering[0].says())
	case p.said != "" && p.fails.IsZero():
		return heldByOthers, reason("the API refuses to evict it: %s", p.said)
	case p.said != "" && !now.Before(p.fails.Add(silence)):
		return heldByOthers, reason("the API fails to evict it: %s", p.said)
	}
	return none, ""
}

// outlives says what holds a pod whose time is over.
func outlives(p *pod) string {
	finalizers := slices.DeleteFunc(slices.Clone(p.Finalizers), func(name string) bool { return name == finalizerJob && !ended(p.Pod) })
	switch len(finalizers) {
	case 0:
		return "its time to end is over, and its kubelet has not ended it"
	case 1:
		return reason("its time to end is over, and it is kept by the finalizer %s", finalizers[0])
	}
	return reason("its time to end is over, and it is kept by the finalizers %s", strings.Join(finalizers, ", "))
}

// reason is a text within the bounds of the API.
func reason(format string, args ...any) string {
	return refitv1alpha1.Clip(fmt.Sprintf(format, args...), refitv1alpha1.MaxBlockerReason)
}

// nameFirst is a reason that begins with a name. If it is too long the name is cut, and not what is said of it.
func nameFirst(kind, name, says string) string {
	const shortest = 16
	room := refitv1alpha1.MaxBlockerReason - len(kind) - len(says) - 2
	return reason("%s %s %s", kind, refitv1alpha1.Clip(name, max(room, shortest)), says)
}

// tells says whether there is something to tell: what is on the node, or why that is not known.
func (v *view) tells(now time.Time) bool { return v.synced || v.missing != nil || v.link.away(now) }
