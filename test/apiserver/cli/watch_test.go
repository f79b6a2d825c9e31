//go:build apiserver

package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/figure"
)

func draining(left int32) refitv1alpha1.NodeUpgradeStatus {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	return refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodePrefetched, Drain: &refitv1alpha1.DrainStatus{
		Sequence: 1, Phase: refitv1alpha1.DrainDraining, StartTime: &now, Remaining: left,
		Blockers: []refitv1alpha1.Blocker{{Pod: "shop/cart", Reason: "PodDisruptionBudget shop/cart allows 0 more disruptions"}},
	}}
}

func TestStatus(t *testing.T) {
	b := newBed(t)
	b.order(t, "worker-1", b.operation(t, "op"), refitv1alpha1.PermitPrefetch, draining(2))
	b.refit(t, "status").want(t, 0,
		"from v1.35.4 to v1.36.3: running", "Operation op", "1 of 1", "0 of 2", "worker-1", "draining, 2 pods left; shop/cart: PodDisruptionBudget")
	type operation struct {
		Kind, Phase string
		Active      []struct{ Node, Activity string }
		Stages      []struct{ Name, State string }
	}
	got := decode[operation](t, b.refit(t, "status", "-o", "json").out)
	if got.Kind != "Operation" || got.Phase != "Running" || len(got.Active) != 1 || got.Active[0].Activity != "Drain" || got.Stages[2].State != "InProgress" {
		t.Errorf("%+v", got)
	}
}

// TestWatch checks the output of a whole upgrade, and the exit code for its result.
func TestWatch(t *testing.T) {
	for phase, code := range map[refitv1alpha1.Phase]int{refitv1alpha1.PhaseSucceeded: 0, refitv1alpha1.PhaseAborted: 1} {
		t.Run(string(phase), func(t *testing.T) {
			b := newBed(t)
			u := b.operation(t, "op")
			r := b.start(t, "watch")
			r.until(t, "worker-1: cordoning")
			b.order(t, "worker-1", u, refitv1alpha1.PermitPrefetch, draining(2))
			r.until(t, "worker-1: draining, 2 pods left; shop/cart: PodDisruptionBudget shop/cart allows 0 more disruptions")
			b.status(t, "op", failed)
			r.until(t, "FAILED worker-1 at swap-kubelet: it does not start")
			r.until(t, "STALLED, action required")
			b.status(t, "op", ended(phase))
			r.wait(t).want(t, code)
		})
	}
}

// TestWatchOutlivesTheAPI starts without Refit, where the output contains the remedy. With Refit,
// it replaces the API server during a watch: the outage is reported, and the watch continues.
func TestWatchOutlivesTheAPI(t *testing.T) {
	b := newBed(t).apart(t)
	b.refit(t, "upgrade", "--yes", "--to", "v1.36.3").want(t, 1, "cannot find Refit in test: run `refit install`")
	b.refit(t, "status").want(t, 1, "cannot find Refit in test")
	b.Install(t, config+"crd")
	b.operation(t, "op", func(u *refitv1alpha1.ClusterUpgrade) {
		u.Status.Nodes.Done, u.Status.Active, u.Status.Message = 0, []string{"cp-1"}, "Upgrading cp-1 to v1.36.3: swap-apiserver"
	})
	r := b.start(t, "watch", "-o", "json")
	r.until(t, `"cp-1"`)
	b.Stop(t)
	r.until(t, `"unreachableSince"`)
	b.Restart(t)
	b.status(t, "op", ended(refitv1alpha1.PhaseSucceeded))
	a := r.wait(t)
	a.want(t, 0, `"phase":"Succeeded"`)
	lines := strings.Split(strings.TrimSpace(a.out), "\n")
	for _, line := range lines {
		decode[map[string]any](t, line)
	}
	if last := decode[map[string]any](t, lines[len(lines)-1]); last["unreachableSince"] != nil || last["ended"] != true {
		t.Errorf("the last line is %v", last)
	}
}

// TestWatchReportsAnAPIServerThatHangs freezes the API server, and then its etcd, for longer than a
// watch takes to notice it. The command reports each outage, and its end.
func TestWatchReportsAnAPIServerThatHangs(t *testing.T) {
	const most, frozenFor = 3 * time.Second, 5 * time.Second
	b := newBed(t).apart(t)
	b.Install(t, config+"crd")
	b.operation(t, "op")
	r := b.start(t, "watch")
	r.until(t, "worker-1")
	for i, part := range []string{"apiserver", "etcd"} {
		thaw := b.Freeze(t, part == "etcd")
		begun := time.Now()
		r.untilTimes(t, "The API server is unreachable", i+1)
		took := time.Since(begun)
		must(t, figure.Print("watch_frozen_"+part, took.Seconds(), "s"))
		if took > most {
			t.Errorf("%s: reported after %s", part, took)
		}
		time.Sleep(time.Until(begun.Add(frozenFor)))
		thaw()
		begun = time.Now()
		r.untilTimes(t, "The API server is reachable again", i+1)
		must(t, figure.Print("watch_thawed_"+part, time.Since(begun).Seconds(), "s"))
	}
	b.status(t, "op", ended(refitv1alpha1.PhaseSucceeded))
	r.wait(t).want(t, 0)
}

// TestWatchInterrupted interrupts a watch: the output states that the upgrade continues, and how to
// resume the watch.
func TestWatchInterrupted(t *testing.T) {
	b := newBed(t)
	b.operation(t, "op")
	r := b.start(t, "watch", "op")
	r.until(t, "worker-1")
	must(t, r.Process.Signal(os.Interrupt))
	r.wait(t).want(t, 130, "op continues in the cluster. To follow it again: refit watch --kubeconfig "+b.kubeconfig+" op")
	b.refit(t, "watch", "--timeout", "1s").want(t, 4, "op did not end within 1s", "continues in the cluster")
	if u := b.get(t, "op"); u.Spec.Paused || u.Spec.Aborted {
		t.Error("leaving changed something")
	}
}

func TestWatchOfAnOperationThatIsDeleted(t *testing.T) {
	b := newBed(t)
	u := b.operation(t, "op")
	r := b.start(t, "watch")
	r.until(t, "worker-1")
	must(t, b.Delete(t.Context(), u))
	r.wait(t).want(t, 1, "the operation op was deleted")
}

func TestExplain(t *testing.T) {
	b := newBed(t)
	b.node(t, "worker-1", func(n *corev1.Node) {
		n.Spec.Unschedulable, n.Annotations = true, map[string]string{refitv1alpha1.AnnotationCordonedBy: "u"}
	})
	b.node(t, "worker-2")
	b.refit(t, "explain", "worker-1").want(t, 0, "There has been no upgrade")
	b.refit(t, "explain", "gone").want(t, 1, "node gone not found")
	b.refit(t, "explain").want(t, 2, "name one node")
	u := b.operation(t, "op", failed)
	at := metav1.NewTime(time.Now().Truncate(time.Second))
	b.order(t, "worker-1", u, refitv1alpha1.PermitApply, refitv1alpha1.NodeUpgradeStatus{
		Phase: refitv1alpha1.NodeFailed, Steps: []refitv1alpha1.StepStatus{{Name: "swap-kubelet", State: refitv1alpha1.StepFailed, StartTime: &at, CompletionTime: &at}},
		Error: &refitv1alpha1.NodeError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "Unhealthy", Step: "swap-kubelet", Message: "it does not start", Remedy: "mend it", At: at,
			LogTail: "unknown flag: --x\nexit 1",
		},
	})
	b.refit(t, "explain", "worker-1").want(t, 0,
		"worker-1: FAILED", "The node failed at swap-kubelet: it does not start.", "cordoned by Refit", "unknown flag: --x exit 1", "mend it. Then run `refit retry`")
	b.refit(t, "explain", "worker-2").want(t, 0, "worker-2: waiting", "The node has no agent")
}
