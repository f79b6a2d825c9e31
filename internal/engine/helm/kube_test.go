package helm

import (
	"testing"
	"testing/synctest"
	"time"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A slowWaiter waits for hooks that take 20 seconds each.
type slowWaiter struct {
	kube.Waiter
	timeouts []time.Duration
}

func (w *slowWaiter) WatchUntilReady(_ kube.ResourceList, timeout time.Duration) error {
	w.timeouts = append(w.timeouts, timeout)
	time.Sleep(20 * time.Second)
	return nil
}

func hookOf(group, kind string) kube.ResourceList {
	gvk := schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}
	return kube.ResourceList{{Name: "a", Mapping: &meta.RESTMapping{GroupVersionKind: gvk, Scope: meta.RESTScopeNamespace}}}
}

func TestOnlyTheTimeOfHooksCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, slow := 50*time.Second, &slowWaiter{}
		w := &hookWaiter{Waiter: slow, left: &left}
		for _, hook := range []kube.ResourceList{hookOf("", "ConfigMap"), hookOf("batch", "Job"), hookOf("", "Pod"), hookOf("batch", "Job")} {
			time.Sleep(time.Hour) // a slow API server
			if err := w.WatchUntilReady(hook, 0); err != nil {
				t.Fatal(err)
			}
		}
		if len(slow.timeouts) != 3 || slow.timeouts[0] != 50*time.Second || slow.timeouts[1] != 30*time.Second || slow.timeouts[2] != 10*time.Second {
			t.Errorf("the timeouts are %v", slow.timeouts)
		}
		if err := w.WatchUntilReady(hookOf("batch", "Job"), 0); err == nil || len(slow.timeouts) != 3 {
			t.Errorf("after the timeout: %v, with timeouts %v", err, slow.timeouts)
		}
		if err := w.WatchUntilReady(hookOf("", "ConfigMap"), 0); err != nil {
			t.Errorf("a ConfigMap after the timeout: %v", err)
		}
	})
}
