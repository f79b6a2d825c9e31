package plan

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// trialPatience is how long a trial may go on before a person is told.
const trialTimeout = 5 * time.Minute

// trialNotPassed lets a Pod try a node that the operation has changed. The parts of the control plane answer for themselves; whether a Pod gets a network, DNS
// answers it and a Service leads anywhere is what users feel, and only a Pod can tell. An aborted operation begins nothing that a trial could hold.
func trialNotPassed(d *deciding, n *cluster.Node, _ int) *Wait {
	trial := d.trial(n)
	changed := d.phase(n) == refitv1alpha1.NodeSucceeded && d.order(n).Spec.Permit == refitv1alpha1.PermitApply
	if !changed || d.op.Spec.Aborted || (trial != nil && trial.Phase == refitv1alpha1.TrialPassed) {
		return nil
	}
	w := &Wait{Reason: refitv1alpha1.ReasonTrialRunning, Node: n.Name, Message: fmt.Sprintf("Trying %s with a Pod that looks for the API by its name", n.Name)}
	if trial == nil {
		d.act(StartTrial, n, "before it gets other pods, one of ours has to find the API by its name and reach it")
		return w
	}
	if trial.StartTime != nil {
		w.Since = trial.StartTime.Time
	}
	if trial.Phase == refitv1alpha1.TrialFailed || d.now.Sub(w.Since) > trialTimeout {
		w.Reason, w.ManualIntervention, w.Message = refitv1alpha1.ReasonTrialFailed, true, trialFailure(n, trial)
		w.Remedy = fmt.Sprintf("see that pods on %s start, DNS answers and Services are reached: kubectl -n refit-trial get events; "+
			"kubectl -n kube-system get pods -o wide. Refit tries again by itself", n.Name)
	}
	return w
}

func trialFailure(n *cluster.Node, trial *refitv1alpha1.TrialStatus) string {
	if trial.Phase == refitv1alpha1.TrialRunning {
		return fmt.Sprintf("The trial of %s has not ended within %s", n.Name, duration(trialTimeout))
	}
	return fmt.Sprintf("A Pod on %s is not well: %s", n.Name, trial.Message)
}
