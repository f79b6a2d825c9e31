package supportbundle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	// margin is the time before and after an operation that explains it.
	margin = 10 * time.Minute
	// DefaultPeriod is the time that is collected without an operation.
	DefaultPeriod = 24 * time.Hour
)

// Window is the time of the logs and journals.
type Window struct{ Since, Until time.Time }

// WindowOf returns the time of an operation, which may be nil. A period replaces its begin, unless
// it is zero.
func WindowOf(u *refitv1alpha1.ClusterUpgrade, period time.Duration, now time.Time) Window {
	w := Window{Since: now.Add(-DefaultPeriod), Until: now}
	if u != nil {
		w.Since = u.CreationTimestamp.Add(-margin)
		ready := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionReady)
		if u.HasEnded() && ready.LastTransitionTime.Add(margin).Before(now) {
			w.Until = ready.LastTransitionTime.Add(margin)
		}
	}
	if period > 0 {
		w = Window{Since: now.Add(-period), Until: now}
	}
	return Window{Since: w.Since.UTC(), Until: w.Until.UTC()}
}
