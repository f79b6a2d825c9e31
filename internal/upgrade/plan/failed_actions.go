package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// FailedAction is an action that has failed since some time, with the error of the last attempt.
type FailedAction struct {
	Kind      ActionKind
	Node      string
	Component string
	Since     time.Time
	Err       error
}

// failureDelay is how long an action may fail before it is reported. An API server that restarts
// refuses requests for less.
const failureDelay = time.Minute

// ReportFailed adds what keeps actions from being executed, such as a webhook that denies them or a
// missing permission. The operation is stalled if nothing else progresses.
func (d *Decision) ReportFailed(failed []FailedAction, now time.Time) {
	stuck := map[string]bool{}
	for _, f := range failed {
		if now.Sub(f.Since) < failureDelay {
			continue
		}
		subject := cmp.Or(f.Node, f.Component)
		stuck[string(f.Kind)+" "+subject] = true
		d.Waiting = append([]Wait{{
			Reason: refitv1alpha1.ReasonActionFailed, Node: f.Node, Component: f.Component, Since: f.Since, ManualIntervention: true,
			Message: fmt.Sprintf("Cannot execute %s: %v", strings.TrimSuffix(string(f.Kind)+" on "+subject, " on "), f.Err),
			Remedy:  "Remove what refuses the request: check the webhooks, the admission policies and the permissions of the controller. Refit retries",
		}}, d.Waiting...)
	}
	if len(stuck) == 0 || d.progressing || d.State != Running && d.State != Aborting {
		return
	}
	for _, a := range d.Actions {
		if a.Kind != RequestReport && a.Kind != Drain && !stuck[string(a.Kind)+" "+a.Subject()] {
			return
		}
	}
	d.State, d.Message = Stalled, d.Waiting[0].Message
}
