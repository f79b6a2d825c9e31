//go:build apiserver

package trial

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/trial"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestAHealthyNode(t *testing.T) {
	t.Parallel()
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		w := worldOn(t, apiserver.Shared(t, apiserver.Options{Version: version}), "well."+strings.ReplaceAll(version, ".", "-"))
		w.live()
		w.changed(refitv1alpha1.TrialRunning)
		pod := w.pod()
		if c := pod.Spec.Containers[0]; pod.Spec.NodeName != w.node || c.Image != image || len(c.Args) != 1 || c.Args[0] != "try" || pod.Labels["refit.dev/sequence"] != "7" {
			t.Errorf("the Pod is %+v", pod)
		}
		w.says(pod, corev1.PodStatus{Phase: corev1.PodRunning})
		w.says(pod, succeeded())
		if found := w.ends(refitv1alpha1.TrialPassed); found.Message != "" || found.Sequence != 7 {
			t.Errorf("the trial is %+v", found)
		}
		w.gone()
	})
}

func TestAFixedNodeIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "mended")
	w.live()
	w.changed(refitv1alpha1.TrialRunning)
	first := w.pod()
	w.says(first, ended("refit-agent: cannot resolve kubernetes.default.svc: i/o timeout\n"))
	if found := w.ends(refitv1alpha1.TrialFailed); found.Message != "cannot resolve kubernetes.default.svc: i/o timeout" {
		t.Errorf("the trial is %+v", found)
	}
	w.gone()
	second := w.pod(first.UID)
	if found := w.trial(t.Context()); found.Phase != refitv1alpha1.TrialFailed {
		t.Errorf("while it is tried again it is %+v", found)
	}
	w.says(second, succeeded())
	if found := w.ends(refitv1alpha1.TrialPassed); found.Message != "" {
		t.Errorf("the trial is %+v", found)
	}
	w.gone()
}

func TestReasonsOfAnUnhealthyPod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says func(w *world, pod *corev1.Pod)
		want string
	}{
		"no-image": {func(w *world, pod *corev1.Pod) {
			status := waiting("ImagePullBackOff", "Back-off pulling image")
			status.Phase, status.Reason = corev1.PodFailed, "DeadlineExceeded"
			w.says(pod, status)
		}, "ImagePullBackOff: Back-off pulling image"},
		"no-network": {func(w *world, pod *corev1.Pod) {
			w.warns(pod, "NetworkNotReady", "network is not ready", time.Now().Add(-time.Minute))
			w.warns(pod, "FailedCreatePodSandBox", "failed to setup network for sandbox:\n no IP addresses available", time.Now())
			w.says(pod, waiting("ContainerCreating", ""))
			w.says(pod, late())
		}, "FailedCreatePodSandBox: failed to setup network for sandbox: no IP addresses available"},
		"no-room": {func(w *world, pod *corev1.Pod) {
			w.says(pod, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfpods", Message: "Node didn't have enough resource: pods"})
		}, "OutOfpods: Node didn't have enough resource: pods"},
		"silent": {func(w *world, pod *corev1.Pod) { w.says(pod, ended("")) }, "it exited with code 1 (Error)"},
		"taken-away": {func(w *world, pod *corev1.Pod) {
			must(w.t, w.typed.CoreV1().Pods(pod.Namespace).Delete(w.t.Context(), pod.Name, metav1.DeleteOptions{}))
		}, "the Pod was deleted before it ended"},
		"long": {func(w *world, pod *corev1.Pod) { w.says(pod, ended(strings.Repeat("x", 4000))) }, strings.Repeat("x", refitv1alpha1.MaxMessage-1) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "unwell-"+name)
			w.live()
			w.changed(refitv1alpha1.TrialRunning)
			c.says(w, w.pod())
			if found := w.ends(refitv1alpha1.TrialFailed); found.Message != c.want {
				t.Errorf("it says %q", found.Message)
			}
		})
	}
}

// warns creates a kubelet's Event about a Pod.
func (w *world) warns(pod *corev1.Pod, reason, message string, at time.Time) {
	w.t.Helper()
	_, err := w.typed.CoreV1().Events(pod.Namespace).Create(w.t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(at),
	}, metav1.CreateOptions{})
	must(w.t, err)
}

func TestTheNextControllerStartsANewTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "next-life")
	end := w.live()
	w.changed(refitv1alpha1.TrialRunning)
	first := w.pod()
	end()
	w.gone() // also on shutdown
	if found := w.trial(t.Context()); found.Phase != refitv1alpha1.TrialRunning {
		t.Errorf("the trial is %+v", found)
	}
	w.live()
	w.says(w.pod(first.UID), succeeded())
	w.ends(refitv1alpha1.TrialPassed)
}

// TestPodsOfADeadControllerAreRemoved leaves Pods of a controller that died. A Pod that blocks a
// trial is replaced, others are deleted; the name alone does not identify an old trial.
func TestPodsOfADeadControllerAreRemoved(t *testing.T) {
	t.Parallel()
	for name, phase := range map[string]refitv1alpha1.TrialPhase{"in-the-way": refitv1alpha1.TrialRunning, "nobody-waits": refitv1alpha1.TrialPassed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "left-"+name)
			w.changed(phase)
			left := w.leaves()
			w.live()
			if phase == refitv1alpha1.TrialPassed {
				w.gone()
				return
			}
			w.says(w.pod(left.UID), succeeded())
			w.ends(refitv1alpha1.TrialPassed)
			w.gone()
		})
	}
}

// leaves creates a Pod as a dead controller left it.
func (w *world) leaves() *corev1.Pod {
	w.t.Helper()
	pod, err := w.typed.CoreV1().Pods(trial.Namespace).Create(w.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: w.node, Namespace: trial.Namespace},
		Spec: corev1.PodSpec{
			NodeName: w.node,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{Name: "try", Image: image, SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}, metav1.CreateOptions{})
	must(w.t, err)
	return pod
}

func TestAnAbandonedTrialEnds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, w *world, operation *refitv1alpha1.ClusterUpgrade){
		"another-order": func(t *testing.T, w *world, _ *refitv1alpha1.ClusterUpgrade) {
			t.Helper()
			order := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"permit":"Hold","sequence":8}}`))
			must(t, w.admin.Patch(t.Context(), &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: w.node}}, order))
		},
		"no-order": func(t *testing.T, w *world, _ *refitv1alpha1.ClusterUpgrade) {
			t.Helper()
			must(t, w.admin.Delete(t.Context(), &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: w.node}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "unwanted-"+name)
			w.live()
			operation := w.changed(refitv1alpha1.TrialRunning)
			w.pod()
			change(t, w, operation)
			w.gone()
		})
	}
	t.Run("aborted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "unwanted-aborted")
		operation := w.changed(refitv1alpha1.TrialFailed)
		abort := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"aborted":true}}`))
		must(t, w.admin.Patch(t.Context(), operation, abort))
		w.live()
		for deadline := time.Now().Add(soon); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if _, err := w.typed.CoreV1().Pods(trial.Namespace).Get(t.Context(), w.node, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Fatalf("a Pod is made for an operation that was aborted: %v", err)
			}
		}
	})
}

func TestAgentsThatWereInstalledManually(t *testing.T) {
	t.Parallel()
	w := worldOn(t, apiserver.Start(t, apiserver.Options{}), "by-hand")
	must(t, w.typed.AppsV1().DaemonSets("refit-agent").Delete(t.Context(), "refit-agent", metav1.DeleteOptions{}))
	w.live()
	w.changed(refitv1alpha1.TrialRunning)
	if found := w.ends(refitv1alpha1.TrialPassed); found.Message != "not tried: no agent image in the cluster" {
		t.Errorf("the trial is %+v", found)
	}
	w.until("an Event that says so", func(ctx context.Context) bool {
		events, err := w.typed.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=by-hand,reason=NotTried"})
		return err == nil && len(events.Items) == 1
	})
}

func TestAMissingPermissionIsReported(t *testing.T) {
	t.Parallel()
	w := worldOn(t, apiserver.Start(t, apiserver.Options{}), "no-right")
	must(t, w.typed.RbacV1().RoleBindings(trial.Namespace).Delete(t.Context(), "refit-controller", metav1.DeleteOptions{}))
	w.live()
	w.changed(refitv1alpha1.TrialRunning)
	if found := w.ends(refitv1alpha1.TrialFailed); !strings.Contains(found.Message, "cannot create resource \"pods\"") {
		t.Errorf("the trial is %+v", found)
	}
}
