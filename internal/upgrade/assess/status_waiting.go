package assess

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// waitingOf lists what the operation waits for. Nodes in progress are left out: their NodeUpgrades
// have the details, and listing them would write the status at each of their steps.
func waitingOf(state plan.State, waits []plan.Wait, previous []refitv1alpha1.WaitingFor, now time.Time) []refitv1alpha1.WaitingFor {
	if state.Ended() {
		return nil
	}
	var out []refitv1alpha1.WaitingFor
	for i := range waits {
		w := &waits[i]
		if w.Reason == refitv1alpha1.ReasonProgressing || w.Message == "" || len(out) == refitv1alpha1.MaxWaiting {
			continue
		}
		out = append(out, refitv1alpha1.WaitingFor{
			Reason: w.Reason, Node: w.Node, Component: w.Component, ActionRequired: w.ManualIntervention, MoreNodes: int32(min(w.More, 1_000_000)),
			Message: refitv1alpha1.Clip(w.Message, refitv1alpha1.MaxWaitingMessage),
			Remedy:  refitv1alpha1.Clip(w.Remedy, refitv1alpha1.MaxWaitingRemedy),
			Since:   since(w, previous, now),
		})
	}
	return out
}

// since keeps the time of a wait that was written before, unless the decision has a time.
func since(w *plan.Wait, previous []refitv1alpha1.WaitingFor, now time.Time) *metav1.Time {
	at := w.Since
	for i := range previous {
		if p := &previous[i]; at.IsZero() && p.Reason == w.Reason && p.Node == w.Node && p.Component == w.Component && p.Since != nil {
			at = p.Since.Time
		}
	}
	if at.IsZero() {
		at = now
	}
	stamp := metav1.NewTime(at.UTC().Truncate(time.Second))
	return &stamp
}
