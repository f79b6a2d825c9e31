//go:build apiserver

package drain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestABudgetRefusesThenAllows(t *testing.T) {
	t.Parallel()
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		w := worldOn(t, apiserver.Shared(t, apiserver.Options{Version: version}))
		w.kubelet(0)
		w.runs("cart", 3)
		w.runs("web", 5)
		w.budget("cart", "cart", counts(0, 3, 3))
		held := ": PodDisruptionBudget " + w.namespace + "/cart needs 3 healthy pods and has 3"
		all := []string{"cart-1" + held, "cart-2" + held, "cart-3" + held}

		begun := time.Now()
		d := w.drain(drain.Order{})
		p := d.until("that three wait", func(p drain.Progress) bool { return p.Remaining == 3 && slices.Equal(reasons(p), all) })
		if p.Evicted != 5 || p.Refused == 0 || p.Refused > 3 || p.Progressing {
			t.Errorf("the progress is %+v", p)
		}

		before := w.wire.settled()
		if watches := countOf(before, "watch poddisruptionbudgets"); watches != 1 {
			t.Errorf("the budget is watched %d times", watches)
		}
		time.Sleep(4 * time.Second)
		if after := w.wire.requests(); len(after) != len(before) {
			t.Errorf("while nothing changed it asked %q", after[len(before):])
		}
		w.count(counts(0, 3, 2))
		lower := ": PodDisruptionBudget " + w.namespace + "/cart needs 3 healthy pods and has 2"
		d.blocked("cart-1"+lower, "cart-2"+lower, "cart-3"+lower)
		if after := w.wire.requests(); len(after) != len(before) {
			t.Errorf("a change that allows nothing made it ask %q", after[len(before):])
		}

		changed := time.Now()
		w.count(counts(1, 3, 4))
		d.until("that one went", func(p drain.Progress) bool { return p.Evicted == 6 })
		if took := time.Since(changed); took > 5*time.Second {
			t.Errorf("it took %s to notice", took)
		}
		d.until("that it is gone", func(p drain.Progress) bool { return p.Remaining == 2 })
		const unasked = 12 * time.Second // after which it retries although nothing changes
		if asked := w.wire.count("evict ") - countOf(before, "evict "); asked != 1 && time.Since(begun) < unasked {
			t.Errorf("for one that may go it asked %d times", asked)
		}
		w.count(counts(2, 2, 4))
		if p := d.empties(); p.Evicted != 8 {
			t.Errorf("the progress is %+v", p)
		}
		if asked := w.wire.requests(); slices.ContainsFunc(asked, func(what string) bool { return strings.HasPrefix(what, "delete ") || strings.HasPrefix(what, "get ") }) {
			t.Errorf("it asked %q", asked)
		}
	})
}

func countOf(requests []string, prefix string) int {
	n := 0
	for _, what := range requests {
		if strings.HasPrefix(what, prefix) {
			n++
		}
	}
	return n
}

func TestABudgetThatIsNotCountedYetIsTriedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 1)
	w.budget("cart", "cart", counts(1, 1, 2))
	change := []byte(`{"spec":{"minAvailable":1}}`)
	_, err := w.admin.PolicyV1().PodDisruptionBudgets(w.namespace).Patch(t.Context(), "cart", types.MergePatchType, change, metav1.PatchOptions{})
	must(t, err)
	d := w.drain(drain.Order{})
	d.blocked("cart-1: PodDisruptionBudget " + w.namespace + "/cart is new or changed, and its status is not up to date")
	time.Sleep(5 * time.Second) // the API responds with Retry-After: 10 s; the library would wait without reporting that
	if asked := w.wire.count("evict "); asked != 1 {
		t.Errorf("it asked %d times", asked)
	}
	w.count(counts(1, 1, 2))
	d.empties()
}

func TestAnUnreadyPodIsEvictedWhileItsBudgetIsSatisfied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 2)
	w.load(slices.Values([]kruntime.Object{w.pod("cart", 3, func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse })}))
	w.budget("cart", "cart", counts(0, 3, 2))
	held := ": PodDisruptionBudget " + w.namespace + "/cart needs 3 healthy pods and has 2"
	d := w.drain(drain.Order{})
	d.blocked("cart-1"+held, "cart-2"+held, "cart-3"+held)
	w.count(counts(0, 2, 2))
	d.until("that the one that is not ready went", func(p drain.Progress) bool { return p.Evicted == 1 && p.Remaining == 2 })
	w.count(counts(2, 2, 4))
	d.empties()
}

func TestTwoBudgetsCoverAPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 2)
	w.runs("web", 1)
	w.budget("first", "cart", counts(2, 1, 3))
	w.budget("second", "cart", counts(2, 1, 3))
	w.budget("unlike", "web", counts(1, 0, 1))
	d := w.drain(drain.Order{})
	both := ": PodDisruptionBudgets first and second both select it, so it cannot be evicted: delete one of them"
	d.until("that two wait", func(p drain.Progress) bool {
		return p.Remaining == 2 && slices.Equal(reasons(p), []string{"cart-1" + both, "cart-2" + both})
	})
	before := w.wire.settled()
	d.goesOn()
	if after := w.wire.requests(); len(after) != len(before) || countOf(after, "evict cart") != 2 || countOf(after, "watch poddisruptionbudgets") != 2 {
		t.Errorf("it asked %q", after)
	}
	must(t, w.admin.PolicyV1().PodDisruptionBudgets(w.namespace).Delete(t.Context(), "second", metav1.DeleteOptions{}))
	if p := d.empties(); p.Evicted != 3 || p.Refused != 2 {
		t.Errorf("the progress is %+v", p)
	}
}

func TestAnUnmanagedPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("debug", 1, bare)
	w.runs("keep", 1, bare)
	w.runs("cart", 1)
	nobody := ": has no controller, so nothing recreates it: waive UnmanagedPod for it, or delete it"
	d := w.drain(drain.Order{})
	d.until("that two are left", func(p drain.Progress) bool {
		return p.Remaining == 2 && slices.Equal(reasons(p), []string{"debug-1" + nobody, "keep-1" + nobody})
	})
	d.goesOn()
	d.cancel()
	if err := d.ends(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}

	d = w.drain(drain.Order{Waived: func(namespace, name string) bool { return namespace == w.namespace && name == "debug-1" }})
	d.until("that one is left", func(p drain.Progress) bool {
		return p.Remaining == 1 && slices.Equal(reasons(p), []string{"keep-1" + nobody})
	})
	d.goesOn()
	must(t, w.admin.CoreV1().Pods(w.namespace).Delete(t.Context(), "keep-1", metav1.DeleteOptions{}))
	if p := d.empties(); p.Evicted != 1 {
		t.Errorf("the progress is %+v", p)
	}
}

func TestPodsThatStayAreNotEvicted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runs("proxy", 1, func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" })
	w.runs("done", 1, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	w.runs("static", 1, func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind = "Node"
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	})
	w.runs("elsewhere", 1, func(p *corev1.Pod) { p.Spec.NodeName = "another" })
	d := w.drain(drain.Order{})
	d.empties()
	if asked := w.wire.count("evict ") + w.wire.count("delete "); asked != 0 {
		t.Errorf("it asked %q", w.wire.requests())
	}
}

func TestAFinalizerKeepsAPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("disk", 1, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/disk"} })
	d := w.drain(drain.Order{})
	d.until("that it is on its way", func(p drain.Progress) bool { return p.Progressing && p.Evicted == 1 })
	begun := time.Now()
	p := d.blocked("disk-1: its grace period has expired, and the finalizer example.com/disk keeps it")
	if took := time.Since(begun); took < 50*time.Second || p.Progressing {
		t.Errorf("after %s the progress is %+v", took, p)
	}
	d.goesOn()
	if w.wire.count("delete ") != 0 || w.wire.count("evict ") != 1 {
		t.Errorf("it asked %q", w.wire.requests())
	}
	_, err := w.admin.CoreV1().Pods(w.namespace).Patch(t.Context(), "disk-1", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	must(t, err)
	d.empties()
}

func TestADeadKubeletTerminatesNoPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runs("cart", 1)
	d := w.drain(drain.Order{})
	d.blocked("cart-1: its grace period has expired, and its kubelet has not stopped it")
	d.goesOn()
	if w.wire.count("delete ") != 0 || w.wire.count("evict ") != 1 {
		t.Errorf("it asked %q", w.wire.requests())
	}
}

func TestPodsThatBudgetsProtectAreDeletedIfThePolicyAllowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 3)
	w.runs("twice", 2)
	w.runs("web", 1)
	w.runs("debug", 1, bare)
	w.budget("cart", "cart", counts(0, 3, 3))
	w.budget("first", "twice", counts(0, 3, 3))
	w.budget("second", "twice", counts(0, 3, 3))
	watched, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := w.admin.CoreV1().Pods(w.namespace).Watch(watched, metav1.ListOptions{})
	must(t, err)

	d := w.drain(drain.Order{Delete: true})
	p := d.until("that one is left", func(p drain.Progress) bool { return p.Remaining == 1 && len(p.Blockers) == 1 })
	if p.Deleted != 5 || p.Evicted != 1 || !strings.Contains(p.Blockers[0].Reason, "has no controller") {
		t.Errorf("the progress is %+v", p)
	}
	cancel()
	for event := range stream.ResultChan() {
		if p, is := event.Object.(*corev1.Pod); is && event.Type == "MODIFIED" && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp != nil &&
			*p.DeletionGracePeriodSeconds != 1 {
			t.Errorf("%s has %d seconds to end", p.Name, *p.DeletionGracePeriodSeconds)
		}
	}
}

func TestANamespaceIsBeingDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 2)
	must(t, w.admin.CoreV1().Namespaces().Delete(t.Context(), w.namespace, metav1.DeleteOptions{}))
	d := w.drain(drain.Order{})
	with := ": its namespace is terminating, which deletes it"
	d.blocked("cart-1"+with, "cart-2"+with)
	before := len(w.wire.settled())
	d.goesOn()
	if after := w.wire.requests(); len(after) != before || countOf(after, "evict ") != 2 {
		t.Errorf("it asked %q", after)
	}
	for _, name := range []string{"cart-1", "cart-2"} { // as the namespace controller does
		must(t, w.admin.CoreV1().Pods(w.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	d.empties()
}

func TestAPodIsScheduledWhileDraining(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 1)
	w.budget("cart", "cart", counts(0, 1, 1))
	d := w.drain(drain.Order{})
	d.until("that it waits", func(p drain.Progress) bool { return len(p.Blockers) == 1 })
	w.runs("late", 1)
	d.until("that the late one came and went", func(p drain.Progress) bool { return p.Evicted == 1 && p.Remaining == 1 })
	w.count(counts(1, 0, 1))
	d.empties()
}

func TestAFrozenWatchMissesAPodAndTheLastReadFindsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wire.swallow, w.wire.swallows = func(event string) bool { return strings.Contains(event, "late-1") }, 1
	w.kubelet(3 * time.Second)
	w.runs("cart", 1)
	d := w.drain(drain.Order{})
	d.until("that it is on its way", func(p drain.Progress) bool { return p.Evicted == 1 })
	w.runs("late", 1)
	if p := d.empties(); p.Evicted != 2 {
		t.Errorf("the progress is %+v", p)
	}
	left, err := w.drainer(w.s.RESTConfig()).Remaining(t.Context(), w.node)
	if err != nil || len(left) != 0 {
		t.Errorf("%q is left: %v", left, err)
	}
	if lists, watches := w.wire.count("list pods"), w.wire.count("watch pods"); lists > 5 || watches != 2 {
		t.Errorf("it asked %q", w.wire.requests())
	}
}

func TestAFrozenWatchMissesTheEndOfPods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wire.swallow, w.wire.swallows = func(string) bool { return true }, 1
	w.kubelet(0)
	w.runs("cart", 3)
	d := w.drain(drain.Order{})
	if p := d.empties(); p.Evicted != 3 {
		t.Errorf("the progress is %+v", p)
	}
	if watches := w.wire.count("watch pods"); watches != 2 {
		t.Errorf("it asked %q", w.wire.requests())
	}
}

func TestAnotherPodOfTheSameNameIsNotEvicted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.wire.swallow, w.wire.swallows = func(string) bool { return true }, 1
	w.runs("cart", 1)
	w.budget("cart", "cart", counts(0, 1, 1))
	d := w.drain(drain.Order{})
	d.until("that it waits", func(p drain.Progress) bool { return len(p.Blockers) == 1 })
	now := int64(0)
	must(t, w.admin.CoreV1().Pods(w.namespace).Delete(t.Context(), "cart-1", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	w.runs("cart", 1, func(p *corev1.Pod) { p.Spec.NodeName = "another" })
	w.count(counts(1, 0, 1))
	d.empties()
	p, err := w.admin.CoreV1().Pods(w.namespace).Get(t.Context(), "cart-1", metav1.GetOptions{})
	if err != nil || p.DeletionTimestamp != nil {
		t.Errorf("the other pod is %+v, %v", p.ObjectMeta, err)
	}
	if w.wire.count("evict ") != 2 {
		t.Errorf("it asked %q", w.wire.requests())
	}
}

func TestTheAPIIsUnreachableForAWhile(t *testing.T) {
	t.Parallel()
	w := worldOn(t, apiserver.Start(t, apiserver.Options{}))
	w.runs("cart", 3)
	w.budget("cart", "cart", counts(0, 3, 3))
	d := w.drain(drain.Order{})
	d.until("that three wait", func(p drain.Progress) bool { return len(p.Blockers) == 3 })
	w.s.Stop(t)
	begun := time.Now()
	p := d.until("that the API is away", func(p drain.Progress) bool { return slices.Contains(reasons(p), "*: the API server is unreachable") })
	if took := time.Since(begun); took < 25*time.Second {
		t.Errorf("it is said after %s", took)
	}
	if len(p.Blockers) != 4 || p.Blockers[0].Pod != "*" || p.Remaining != 3 {
		t.Errorf("the progress is %+v", p)
	}
	w.s.Restart(t)
	d.until("that the API is back", func(p drain.Progress) bool { return len(p.Blockers) == 3 })
	w.kubelet(0)
	w.count(counts(3, 0, 3))
	d.empties()
}

func TestTheAPIIsUnreachableFromTheStart(t *testing.T) {
	t.Parallel()
	w := worldOn(t, apiserver.Start(t, apiserver.Options{}))
	w.runs("cart", 1)
	w.s.Stop(t)
	d := w.drain(drain.Order{})
	if p := d.until("that the API is away", func(drain.Progress) bool { return true }); !slices.Equal(reasons(p), []string{"*: the API server is unreachable"}) {
		t.Errorf("it was first told %+v", p)
	}
	w.s.Restart(t)
	w.kubelet(0)
	d.empties()
}

func TestTheAPIHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(0)
	w.runs("cart", 1)
	w.wire.hangs.Store(true)
	d := w.drain(drain.Order{})
	if p := d.until("that the API is away", func(drain.Progress) bool { return true }); !slices.Equal(reasons(p), []string{"*: the API server is unreachable"}) {
		t.Errorf("it was first told %+v", p)
	}
	w.wire.hangs.Store(false)
	d.empties()
}

func TestAPermissionIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runs("cart", 1)
	w.runs("held", 1)
	w.budget("held", "held", counts(0, 1, 1))
	user := func(name string) string { return name + "-of-" + w.namespace }
	role := func(name string, rules ...rbacv1.PolicyRule) []kruntime.Object {
		name = user(name)
		return []kruntime.Object{
			&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules},
			&rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
				Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
			},
		}
	}
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	reads := rule("", "pods", "list", "watch")
	w.load(slices.Values(slices.Concat(
		role("reader", reads),
		role("evicter", reads, rule("", "pods/eviction", "create")),
		role("drains", reads, rule("", "pods/eviction", "create"), rule("policy", "poddisruptionbudgets", "list", "watch")),
	)))
	for name, want := range map[string]string{
		"stranger": "the permission to list and watch pods in all namespaces is missing: ",
		"reader":   "the permission to create pods/eviction in namespace " + w.namespace + " is missing: ",
		"evicter":  "the permission to list and watch poddisruptionbudgets.policy in namespace " + w.namespace + " is missing: ",
		"drains":   "the permission to delete pods in namespace " + w.namespace + " is missing: ",
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			w.wire = &wire{}
			if name != "stranger" {
				client, err := kubernetes.NewForConfig(w.s.As(t, user(name)))
				must(t, err)
				seen(t, func() error {
					_, err := client.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{Limit: 1})
					return err
				})
			}
			d := w.drainAs(w.s.As(t, user(name)), drain.Order{Delete: name == "drains"})
			err := d.ends()
			if err == nil || !strings.HasPrefix(err.Error(), want) || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"`+user(name)+`"`) {
				t.Errorf("it ended with %v", err)
			}
			if len(d.last.Blockers) == 0 || d.last.Blockers[0].Reason+": " != want[:min(len(want), 128)] {
				t.Errorf("it told %+v", d.last)
			}
		})
	}
}

// seen waits until the server has observed what is in etcd: its admission plugins and RBAC use
// watches.
func seen(t *testing.T, try func() error) {
	t.Helper()
	for deadline := time.Now().Add(checkTimeout); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestLowerPrioritiesGoFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.kubelet(time.Second)
	const each, levels = 20, 3
	for level, class := range [levels]string{"", "system-cluster-critical", "system-node-critical"} {
		classed := func(p *corev1.Pod) { p.Spec.PriorityClassName = class }
		seen(t, func() error {
			_, err := w.admin.CoreV1().Pods(w.namespace).Create(t.Context(), w.pod("try", 1, classed), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		})
		w.runs(fmt.Sprintf("level%d", level), each, classed)
	}
	d := w.drain(drain.Order{})
	d.empties()
	var order []int
	for _, what := range w.wire.requests() {
		var level, n int
		if _, err := fmt.Sscanf(what, "evict level%d-%d", &level, &n); err == nil {
			order = append(order, level)
		}
	}
	const together = 10 // are in flight at once, and may arrive out of order
	for i, level := range order {
		if earliest := level*each - together; i < earliest {
			t.Errorf("one of level %d is number %d in %v", level, i, order)
		}
	}
	if len(order) != each*levels {
		t.Errorf("it asked %d times", len(order))
	}
}

func TestACancelledDrainLeavesNothingBehind(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{})
	for name, prepare := range map[string]func(*world) *drained{
		"while pods wait for budgets": func(w *world) *drained {
			w.runs("cart", 3)
			w.runs("web", 3)
			w.budget("cart", "cart", counts(0, 3, 3))
			w.budget("web", "web", counts(0, 3, 3))
			d := w.drain(drain.Order{})
			d.until("that six wait", func(p drain.Progress) bool { return len(p.Blockers) == 6 })
			return d
		},
		"while the API is away": func(w *world) *drained {
			w.runs("cart", 3)
			w.budget("cart", "cart", counts(0, 3, 3))
			d := w.drain(drain.Order{})
			d.until("that three wait", func(p drain.Progress) bool { return len(p.Blockers) == 3 })
			w.s.Stop(w.t)
			time.Sleep(15 * time.Second) // until retries are rare
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.Restart(t)
			d := prepare(worldOn(t, s))
			if atWork(ours) == "" || running(theirs...) == "" {
				t.Fatal("nothing runs that could be left behind")
			}
			begun := time.Now()
			d.cancel()
			err := d.ends()
			if left := atWork(ours); left != "" {
				t.Errorf("it ended before\n%s", left)
			}
			if took := time.Since(begun); took > 2*time.Second || !errors.Is(err, context.Canceled) {
				t.Errorf("after %s it ended with %v", took, err)
			}
			left := running(theirs...)
			for deadline := time.Now().Add(3 * time.Second); left != "" && time.Now().Before(deadline); left = running(theirs...) {
				time.Sleep(50 * time.Millisecond)
			}
			if left != "" {
				t.Errorf("it left behind\n%s", left)
			}
		})
	}
}

// ours is in the stacks of a drain's goroutines, theirs in those that the library started for it.
const ours = "refit/internal/engine/drain."

var theirs = []string{"client-go/tools/cache.", "StreamWatcher"}

// running returns the stacks of the goroutines that contain one of these signs.
func running(signs ...string) string {
	return stacks(func(stack string) bool {
		return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(stack, sign) })
	})
}

// atWork returns the stacks of the goroutines that are in a function whose name contains sign. One
// that has told its WaitGroup that it is done still exists for a moment, and is in none. A list
// that the library's reflector started ends on its own, moments after the reflector: it is theirs.
func atWork(sign string) string {
	return stacks(func(stack string) bool {
		if strings.Contains(stack, "created by k8s.io/client-go/tools/cache.") {
			return false
		}
		for line := range strings.Lines(stack) {
			if strings.Contains(line, sign) && !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "created by ") &&
				!strings.Contains(line, "(*WaitGroup).Go.") {
				return true
			}
		}
		return false
	})
}

// stacks returns the stacks of the goroutines that match.
func stacks(match func(stack string) bool) string {
	all := make([]byte, 1<<22)
	all = all[:runtime.Stack(all, true)]
	var found []string
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		if match(stack) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
