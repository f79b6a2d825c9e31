package text_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// known has the known facts of a node of a scene; the node has an agent and is ready.
func known(s *scene, node string) progress.Known {
	k := progress.Known{
		Node:   progress.Node{Name: node, Kubelet: "v1.35.4", Ready: true, ReadySince: ago(3 * 24 * time.Hour).Time},
		Report: &refitv1alpha1.NodeReport{},
	}
	k.Report.Status = refitv1alpha1.NodeReportStatus{AgentVersion: "v0.2.0", ObservedTime: ago(4 * time.Minute)}
	if s != nil {
		k.Operation = s.operation
		for _, o := range s.orders {
			if o.Name == node {
				k.Order = o
			}
		}
	}
	return k
}

// cordoned is a node that Refit cordoned.
func cordoned(k progress.Known) progress.Known {
	k.Node.Cordoned, k.Node.CordonedBy = true, "u1"
	return k
}

// failure is a node whose kubelet did not start.
func failure(t *testing.T) progress.Known {
	t.Helper()
	k := cordoned(known(findScene(t, "stalled"), "worker-1"))
	status := &k.Order.Status
	for i, name := range []string{"fetch", "import-images", "check-host", "stage-files", "swap-kubelet"} {
		status.Steps = append(status.Steps, refitv1alpha1.StepStatus{
			Name: name, State: refitv1alpha1.StepDone, StartTime: ago(time.Duration(300-20*i) * time.Second), CompletionTime: ago(time.Duration(285-20*i) * time.Second),
		})
	}
	status.Steps[4].State = refitv1alpha1.StepFailed
	status.Drain = &refitv1alpha1.DrainStatus{Sequence: 3, Phase: refitv1alpha1.DrainDrained, StartTime: ago(5 * time.Minute), CompletionTime: ago(4 * time.Minute)}
	status.Error = &refitv1alpha1.NodeError{
		Class: refitv1alpha1.FailureManualIntervention, Reason: "KubeletUnhealthy", Step: "swap-kubelet", At: *ago(time.Minute),
		Message: "the kubelet does not become healthy", Remedy: "remove the flag --container-runtime from /etc/default/kubelet",
		LogTail: "kubelet[812]: E1115 11:58:51 run.go:72] \"command failed\" err=\"failed to parse kubelet flag: unknown flag: --container-runtime\"\nsystemd[1]: kubelet.service: Main process exited, code=exited\x1b[2J\n",
	}
	return k
}

func TestExplainPages(t *testing.T) {
	away := known(findScene(t, "draining"), "worker-2")
	away.Node.Ready, away.Node.ReadyMessage = false, "Kubelet stopped posting node status."
	away.Node.Cordoned = true
	agentless := known(findScene(t, "fetching"), "worker-3")
	agentless.Report = nil
	skipped := known(findScene(t, "draining"), "worker-2")
	skipped.Order.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 3, Phase: refitv1alpha1.DrainSkipped, StartTime: ago(20 * time.Minute), CompletionTime: ago(5 * time.Minute), Blockers: []refitv1alpha1.Blocker{cart}}
	refused := known(findScene(t, "draining"), "worker-2")
	refused.Order.Status.Conditions = []metav1.Condition{{
		Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: "OtherMachine", Message: "the order is for another machine",
	}}
	left := known(findScene(t, "running"), "worker-9")
	left.Operation.Spec.NodeSelector = map[string]string{"pool": "batch"}
	finished := known(findScene(t, "running"), "worker-1")
	finished.Node.Kubelet = "v1.36.3"
	controlPlane := cordoned(known(findScene(t, "agent-waits"), "cp-2"))
	controlPlane.Node.ControlPlane = true
	unwell := cordoned(known(findScene(t, "agent-waits"), "cp-2"))
	unwell.Order.Status.Phase, unwell.Order.Status.ObservedSequence = refitv1alpha1.NodeSucceeded, unwell.Order.Spec.Sequence
	unwell.Order.Status.Trial = &refitv1alpha1.TrialStatus{
		Sequence: unwell.Order.Spec.Sequence, Phase: refitv1alpha1.TrialFailed, Message: "FailedCreatePodSandBox: failed to find plugin \"host-local\" in path [/opt/cni/bin]",
	}
	aloneFetching, alone := known(findScene(t, "alone-fetching"), "worker-1"), known(findScene(t, "alone"), "worker-1")
	aloneFetching.Node.Kubelet, alone.Node.Kubelet = "v1.36.3", "v1.36.3"
	for name, k := range map[string]progress.Known{
		"idle": known(nil, "worker-1"), "failed": failure(t), "waiting": known(findScene(t, "running"), "worker-2b"), "not-ready": away, "agentless": agentless,
		"drain-blocked": cordoned(known(findScene(t, "drain-blocked"), "worker-1")), "skipped": skipped, "refused": refused, "left-out": left, "done": finished,
		"control-plane": controlPlane, "fetching": known(findScene(t, "fetching"), "worker-1"), "over": known(findScene(t, "done"), "worker-1"),
		"trial-failed": unwell, "alone-fetching": aloneFetching, "alone": alone,
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "explain-"+name, text.Explain(progress.NewExplanation("prod", "refit", k), text.Page{Width: 100}, noon), 160)
		})
	}
}

func TestHistoryPage(t *testing.T) {
	failed := findScene(t, "stalled")
	failed.operation.Status.Phase = refitv1alpha1.PhaseAborted
	failed.ended(metav1.ConditionFalse, refitv1alpha1.ReasonAborted)
	workers := findScene(t, "draining")
	workers.operation.Spec.Scope = refitv1alpha1.ScopeWorkers
	all := []refitv1alpha1.ClusterUpgrade{
		*failed.operation, *findScene(t, "done").operation, *findScene(t, "planning").operation, *workers.operation,
		*findScene(t, "alone-aborted").operation, *findScene(t, "alone").operation,
	}
	for i := range all {
		all[i].Name += []string{"", "-2", "-3", "-4", "", "-2"}[i]
	}
	golden(t, "history", text.History(progress.NewHistory("prod", all), noon, "refit"), 165)
	golden(t, "history-none", text.History(progress.NewHistory("prod", nil), noon, "refit"), 160)
}
