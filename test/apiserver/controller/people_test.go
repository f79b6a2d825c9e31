//go:build apiserver

package controller

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestPauseCompletesTheActiveNodeAndStartsNothing(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	b.says(`{"paused":true}`)
	b.until(op, "is paused with worker-1 at work", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhasePaused && !idle(o)
	})
	held.letGo()
	b.until(op, "is paused and idle", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhasePaused && idle(o)
	})
	b.atRest(append(controlPlane, "worker-1")...)
	b.says(`{"paused":false}`)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
	var paused []string
	for _, e := range b.told("ClusterUpgrade", op) {
		if e.Reason == "Paused" || e.Reason == "Resumed" {
			paused = append(paused, e.Reason)
		}
	}
	if fmt.Sprint(paused) != "[Paused Resumed]" {
		t.Errorf("the Events are %v", paused)
	}
}

func TestRetryAfterTheCauseIsFixed(t *testing.T) {
	for situation, tt := range map[string]struct {
		step string
		says string
	}{
		"a step that changed nothing yet": {"save-state", "worker-1 failed at save-state: the step failed: simulated failure"},
		"a kubelet that was rolled back":  {"swap-kubelet", "worker-1 failed at swap-kubelet and was rolled back: the step failed: simulated failure"},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t, controlPlaneDone)
			b.hosts.fail("worker-1", tt.step)
			b.controllers()
			b.upgrade(op)
			stalled := b.until(op, "is stalled", phase(refitv1alpha1.PhaseStalled))
			if stalled.Status.Message != tt.says || len(stalled.Status.Failures) != 1 || stalled.Status.Failures[0].Remedy == "" {
				t.Errorf("it says %q, and %+v", stalled.Status.Message, stalled.Status.Failures)
			}
			b.says(`{"retry":1}`)
			b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
			b.atRest(everyNode...)
			if n := b.hosts.began("worker-1", tt.step); n != 2 {
				t.Errorf("the step began %d times", n)
			}
			b.wait("the failure is told on the node, with its remedy", func() (bool, string) {
				for _, e := range b.told("Node", "worker-1") {
					if e.Reason == "NodeFailed" {
						return e.Type == corev1.EventTypeWarning && strings.Contains(e.Note, "Remedy: "), e.Note
					}
				}
				return false, "not told"
			})
		})
	}
}

func TestF7AnEditedTargetIsRefused(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	operation := b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	for _, spec := range []string{`{"target":{"kubernetes":"v1.37.1"}}`, `{"scope":"Workers"}`, `{"nodeSelector":{"a":"b"}}`} {
		err := b.client.Patch(t.Context(), operation, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "cannot be changed: create another ClusterUpgrade") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	held.letGo()
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}

func TestF13TheYoungerOperationWaitsForTheOlder(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	only := func(worker string) change {
		return func(o *refitv1alpha1.ClusterUpgrade) {
			o.Spec.NodeSelector = refitv1alpha1.Labels{"kubernetes.io/hostname": worker}
		}
	}
	b.upgrade("a-first", only("worker-1"))
	b.comes("the kubelet of worker-1", held)
	b.upgrade("b-second", only("worker-2"))
	b.until("b-second", "waits", func(o *refitv1alpha1.ClusterUpgrade) bool {
		c := meta.FindStatusCondition(o.Status.Conditions, refitv1alpha1.ConditionQueued)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == refitv1alpha1.ReasonOlderOperation && o.Status.Phase == refitv1alpha1.PhaseWaiting
	})
	if n := b.hosts.began("worker-2", "fetch"); n != 0 {
		t.Error("the second one has begun")
	}
	held.letGo()
	b.until("a-first", "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.until("b-second", "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(append(controlPlane, "worker-1", "worker-2")...)
}

func TestF13TheSameStartedManyTimesAtOnce(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	b.controllers()
	const times = 20
	failed := make(chan error, times)
	for range times {
		go func() {
			failed <- b.client.Create(t.Context(), &refitv1alpha1.ClusterUpgrade{
				ObjectMeta: metav1.ObjectMeta{Name: op},
				Spec:       refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: to}, Approval: refitv1alpha1.ApprovalNone},
			})
		}()
	}
	made := 0
	for range times {
		if err := <-failed; err == nil {
			made++
		} else if !apierrors.IsAlreadyExists(err) {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}
