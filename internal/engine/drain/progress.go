package drain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// Progress is the progress of a drain.
type Progress struct {
	Remaining int32 // pods that must still leave
	// Blockers has all pods that cannot leave now, or not soon, and why, the most important first:
	// one pod of each reason, then the next. The pod "*" stands for all pods.
	Blockers    []refitv1alpha1.Blocker
	Progressing bool // at least one pod terminates within its grace period

	Evicted, Refused, Deleted int64 // so far: pods, responses, pods
}

func (p Progress) equal(other Progress) bool {
	return p.Remaining == other.Remaining && p.Progressing == other.Progressing && p.Evicted == other.Evicted && p.Refused == other.Refused &&
		p.Deleted == other.Deleted && slices.Equal(p.Blockers, other.Blockers)
}

const (
	allPods = "*"
	// finalizerJob is on every pod of a Job. Its controller removes it when the pod ends, so it
	// blocks nothing.
	finalizerJob = "batch.kubernetes.io/job-tracking"
)

// rank is the importance of a reason, the most important first.
type rank int

const (
	notBlocked rank = iota
	rankPermission
	rankAPI
	rankUnmanaged
	rankOverlap
	rankStuck
	rankBudget
	rankDenied
	rankNamespace
	rankTerminating
)

// longGrace is the grace period up to which a pod that terminates is not reported.
const longGrace = 2 * time.Minute

// blocker is a Blocker and its place in the list.
type blocker struct {
	refitv1alpha1.Blocker

	nth  int // of those with the same reason
	rank rank
}

// progress computes the Progress.
func (v *view) progress(now time.Time) Progress {
	p := Progress{Remaining: int32(len(v.pods)), Evicted: v.evicted, Refused: v.refused, Deleted: v.deleted}
	var found []blocker
	if v.missing != nil {
		found = append(found, blocker{Blocker: *v.missing, rank: rankPermission})
	}
	if v.connection.unreachable(now) {
		found = append(found, blocker{Blocker: refitv1alpha1.Blocker{Pod: allPods, Reason: "the API server is unreachable"}, rank: rankAPI})
	}
	nth := map[string]int{}
	for _, pod := range evictionOrder(v.pods) {
		p.Progressing = p.Progressing || (pod.terminating() && now.Before(pod.deadline()))
		if r, why := v.blockerOf(pod, now); r != notBlocked {
			b := refitv1alpha1.Blocker{Pod: pod.key().String(), Reason: why}
			b.Waiver, b.Object = v.waiverFor(pod)
			found = append(found, blocker{Blocker: b, nth: nth[why], rank: r})
			nth[why]++
		}
	}
	slices.SortStableFunc(found, func(a, b blocker) int { return cmp.Or(cmp.Compare(a.nth, b.nth), cmp.Compare(a.rank, b.rank)) })
	for _, b := range found {
		p.Blockers = append(p.Blockers, b.Blocker)
	}
	return p
}

// blockerOf returns why a pod cannot leave now, if it cannot.
func (v *view) blockerOf(p *pod, now time.Time) (rank, string) {
	if p.terminating() {
		switch {
		case !now.Before(p.deadline()) && !v.connection.unreachable(now):
			return rankStuck, stuckReason(p)
		case gracePeriod(p.Pod) > longGrace && now.Before(p.deadline()):
			return rankTerminating, reason("terminates, and its grace period of %s ends at %s",
				gracePeriod(p.Pod), p.deadline().Add(-stuckAfter).UTC().Format(time.RFC3339))
		}
		return notBlocked, "" // it terminates soon, or may be gone by now
	}
	covering, _ := v.covering(p)
	respected := !v.order.Delete
	switch {
	case v.keepsData(p):
		owner, _ := dataOwner(p.Pod)
		return rankUnmanaged, reason("its data in an emptyDir would be lost: waive LocalDataLost for %s, or move the data", owner)
	case v.irreplaceable(p):
		return rankUnmanaged, "has no controller, so nothing recreates it: waive UnmanagedPod for it, or delete it"
	case p.namespaceTerminating:
		return rankNamespace, "its namespace is terminating, which deletes it"
	case respected && len(covering) > 1:
		return rankOverlap, reason("PodDisruptionBudgets %s and %s both select it, so it cannot be evicted: delete one of them",
			covering[0].key.Name, covering[1].key.Name)
	case respected && p.overlapping:
		return rankOverlap, "two PodDisruptionBudgets select it, so it cannot be evicted: delete one of them"
	case respected && len(covering) == 1 && !covering[0].allows(p) && (!p.inFlight || covering[0].hasRefused(p)):
		return rankBudget, nameFirst("PodDisruptionBudget", covering[0].key.String(), covering[0].explain())
	case p.message != "" && p.failingSince.IsZero():
		return rankDenied, reason("its eviction is denied: %s", p.message)
	case p.message != "" && !now.Before(p.failingSince.Add(reportAfter)):
		return rankDenied, reason("its eviction fails: %s", p.message)
	}
	return notBlocked, ""
}

// waiverFor returns the waiver that lets a pod go whose loss blocks the drain, if there is one that
// fits into the status.
func (v *view) waiverFor(p *pod) (check, object string) {
	switch {
	case p.terminating():
		return "", ""
	case v.keepsData(p):
		check = policy.CheckLocalData
		object, _ = dataOwner(p.Pod)
	case v.irreplaceable(p):
		check, object = policy.CheckUnmanaged, "Pod "+p.key().String()
	}
	if len(object) > refitv1alpha1.MaxBlockerObject {
		return "", ""
	}
	return check, object
}

// stuckReason returns what keeps a pod that has exceeded its grace period.
func stuckReason(p *pod) string {
	finalizers := slices.DeleteFunc(slices.Clone(p.Finalizers), func(name string) bool { return name == finalizerJob && !ended(p.Pod) })
	switch len(finalizers) {
	case 0:
		return "its grace period has expired, and its kubelet has not stopped it"
	case 1:
		return reason("its grace period has expired, and the finalizer %s keeps it", finalizers[0])
	}
	return reason("its grace period has expired, and the finalizers %s keep it", strings.Join(finalizers, ", "))
}

// reason returns a text within the limit of the API.
func reason(format string, args ...any) string {
	return refitv1alpha1.Clip(fmt.Sprintf(format, args...), refitv1alpha1.MaxBlockerReason)
}

// nameFirst returns a reason that starts with a name. If it is too long, the name is clipped, and
// not the message.
func nameFirst(kind, name, message string) string {
	const shortest = 16
	longest := refitv1alpha1.MaxBlockerReason - len(kind) - len(message) - 2
	return reason("%s %s %s", kind, refitv1alpha1.Clip(name, max(longest, shortest)), message)
}

// known reports whether there is something to report: the pods of the node, or why they are
// unknown.
func (v *view) known(now time.Time) bool {
	return v.synced || v.missing != nil || v.connection.unreachable(now)
}
