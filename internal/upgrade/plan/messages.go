package plan

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func (v *view) failedWait(n *cluster.Node) Wait {
	if refusal := v.refusal(n); refusal != nil {
		return refusedWait(n, refusal)
	}
	failure := v.failure(n)
	message := fmt.Sprintf("%s failed", n.Name)
	if failure.Step != "" {
		message += " at " + failure.Step
	}
	if v.phase(n) == refitv1alpha1.NodeRolledBack {
		message += " and was rolled back"
	}
	if failure.Message != "" {
		message += ": " + failure.Message
	}
	return Wait{Reason: refitv1alpha1.ReasonNodeFailed, Node: n.Name, Message: message, ManualIntervention: true, Remedy: failure.Remedy}
}

// notReady waits for a node to become ready, and requires manual intervention after a while.
func (v *view) notReady(n *cluster.Node, what string) Wait {
	return Wait{
		Reason: refitv1alpha1.ReasonNodeUnavailable, Node: n.Name, Since: n.ReadySince, ManualIntervention: v.overdue(n.ReadySince),
		Message: fmt.Sprintf("%s (%s) is not ready", n.Name, what),
		Remedy:  fmt.Sprintf("Check `kubectl describe node %s`, and on the node `journalctl -u kubelet -u refit-agent`", n.Name),
	}
}

// unsettled waits for a node that runs its version and is not settled.
func (v *view) unsettled(n *cluster.Node, hop int) Wait {
	version := v.plan.Hops[hop].Kubernetes
	if !n.IsReady() {
		return v.notReady(n, "at "+version)
	}
	return v.inProgress(n, fmt.Sprintf("%s runs %s and is being released", n.Name, version))
}

// inProgress waits for a node that progresses without manual intervention.
func (v *view) inProgress(n *cluster.Node, message string) Wait {
	w := Wait{Reason: refitv1alpha1.ReasonProgressing, Node: n.Name, Message: message}
	if order := v.order(n); order != nil && order.Status.StartTime != nil {
		w.Since = order.Status.StartTime.Time
	}
	return w
}

// stepOf is the current step of an agent, for the end of a sentence.
func stepOf(n *cluster.Node) string {
	if n.Upgrade == nil || n.Upgrade.Status.Step == "" {
		return ""
	}
	return ": " + n.Upgrade.Status.Step
}

func blockersOf(drain *refitv1alpha1.DrainStatus) string {
	if drain == nil || len(drain.Blockers) == 0 {
		return ""
	}
	text := fmt.Sprintf(": %s: %s", drain.Blockers[0].Pod, drain.Blockers[0].Reason)
	if more := len(drain.Blockers) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// describeActions summarizes the most significant kind of action in a sentence.
func describeActions(actions []Action) string {
	for _, m := range actionMessages {
		var on []string
		for _, a := range actions {
			if a.Kind == m.kind {
				on = append(on, a.Subject())
			}
		}
		if len(on) > 0 {
			return fmt.Sprintf(m.format, list(on))
		}
	}
	return ""
}

// actionMessages are ordered by significance.
var actionMessages = []struct {
	kind   ActionKind
	format string
}{
	{Finish, "Finishing%s"},
	{CreateBackup, "Backing up etcd%s"},
	{DeleteBackup, "Canceling the backup of etcd%s"},
	{Apply, "Upgrading %s"},
	{Rollback, "Rolling back %s"},
	{ApplyComponent, "Changing component %s"},
	{HoldComponent, "Holding component %s"},
	{Drain, "Draining %s"},
	{Cordon, "Cordoning %s"},
	{Protect, "Protecting %s from autoscalers"},
	{Claim, "Starting with %s"},
	{Skip, "Skipping %s"},
	{FailDrain, "Failing the drain of %s"},
	{StartTrial, "Running a trial Pod on %s"},
	{Uncordon, "Uncordoning %s"},
	{ReleaseNode, "Releasing %s"},
	{Unprotect, "Releasing %s"},
	{Prefetch, "Prefetching on %s"},
	{Hold, "Holding %s"},
	{RequestReport, "Requesting reports from %s"},
}

// list names the first few and counts the rest.
func list(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

func names(nodes []*cluster.Node) string {
	out := make([]string, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, n.Name)
	}
	return list(out)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

func areUnavailable(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}

func podsToMove(pods int32) string {
	switch pods {
	case 0:
		return "no pod has to move"
	case 1:
		return "1 pod has to move"
	}
	return fmt.Sprintf("%d pods have to move", pods)
}
