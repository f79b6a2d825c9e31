package plan

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// trialTimeout is how long a trial may run before manual intervention is required.
const trialTimeout = 5 * time.Minute

// needsTrial reports whether the operation has changed a node. An aborted operation starts nothing
// that a trial could protect.
func (d *deciding) needsTrial(n *cluster.Node) bool {
	return d.phase(n) == refitv1alpha1.NodeSucceeded && d.order(n).Spec.Permit != refitv1alpha1.PermitHold && !d.op.Spec.Aborted
}

// trialNotStarted starts a trial Pod on a node that the operation has changed.
func trialNotStarted(d *deciding, n *cluster.Node, _ int) *Wait {
	if d.trial(n) != nil || !d.needsTrial(n) {
		return nil
	}
	if w := clockWrong(d, n, 0); w != nil {
		return w // other controllers would misread the time of the start
	}
	d.act(StartTrial, n, "a trial Pod has to resolve and reach the API before other pods run on the node")
	d.requireReportsSince(afterSecond(d.now)) // in the same decision: agents answer while the trial starts
	return runningTrial(n)
}

func runningTrial(n *cluster.Node) *Wait {
	return &Wait{
		Reason: refitv1alpha1.ReasonTrialRunning, Node: n.Name,
		Message: fmt.Sprintf("Running a trial Pod on %s that resolves and reaches the API", n.Name),
	}
}

// trialNotPassed waits for the trial Pod. Probes cover the control plane itself; only a Pod shows
// whether pods get a network, DNS resolves and Services are reachable.
func trialNotPassed(d *deciding, n *cluster.Node, _ int) *Wait {
	trial := d.trial(n)
	if !d.needsTrial(n) || (trial != nil && trial.Phase == refitv1alpha1.TrialPassed) {
		return nil
	}
	w := runningTrial(n)
	if trial == nil {
		return w
	}
	if trial.StartTime != nil {
		w.Since = trial.StartTime.Time
	}
	if trial.Phase == refitv1alpha1.TrialFailed || d.now.Sub(w.Since) > trialTimeout {
		w.Reason, w.ManualIntervention, w.Message = refitv1alpha1.ReasonTrialFailed, true, trialFailure(n, trial)
		w.Remedy = fmt.Sprintf("Check that pods on %s start, DNS resolves and Services are reachable: `kubectl -n refit-trial get events; "+
			"kubectl -n kube-system get pods -o wide`. Refit repeats the trial", n.Name)
	}
	return w
}

func trialFailure(n *cluster.Node, trial *refitv1alpha1.TrialStatus) string {
	if trial.Phase == refitv1alpha1.TrialRunning {
		return fmt.Sprintf("The trial Pod on %s has not finished within %s", n.Name, duration(trialTimeout))
	}
	return fmt.Sprintf("The trial Pod on %s failed: %s", n.Name, trial.Message)
}
