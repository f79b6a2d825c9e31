package object_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/refit-dev/refit/internal/engine/object"
)

// limit is the limit of the step that waits.
const limit = 15 * time.Minute

// waited waits for objects, and returns how long that took.
func waited(t *testing.T, live ...client.Object) (time.Duration, *object.NotReadyError) {
	t.Helper()
	took, failure, _ := reported(t, live, nil)
	return took, failure
}

// reported waits for objects while others exist, and returns what was reported last.
func reported(t *testing.T, live, others []client.Object) (took time.Duration, failure *object.NotReadyError, said string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		var objects []*unstructured.Unstructured
		mapper := meta.NewDefaultRESTMapper(nil)
		for _, o := range live {
			gvk, err := apiutil.GVKForObject(o, clientgoscheme.Scheme)
			if err != nil {
				t.Fatal(err)
			}
			mapper.Add(gvk, meta.RESTScopeNamespace)
			content := &unstructured.Unstructured{}
			content.SetGroupVersionKind(gvk)
			content.SetName(o.GetName())
			objects = append(objects, content)
		}
		e := object.Editor{Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithObjects(slices.Concat(live, others)...).Build()}
		started := time.Now()
		err := e.WaitAll(ctx, objects, "shop", func(text string) { said = text })
		took = time.Since(started)
		failure, _ = errors.AsType[*object.NotReadyError](err)
	})
	return took, failure, said
}

func failedJob() client.Object {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "check"},
		Status:     batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: "it exited"}}},
	}
}

func progressingDeployment() client.Object {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
}

func TestWaitingEndsOnceOnlyFailedObjectsAreLeft(t *testing.T) {
	took, failure := waited(t, failedJob())
	if failure == nil || !failure.Failed() {
		t.Fatalf("the result is %v", failure)
	}
	if took < 10*time.Second || took > 15*time.Second {
		t.Errorf("it waited %s for a Job that has failed", took)
	}
}

func TestWaitingGoesOnWhileAnObjectCanBecomeReady(t *testing.T) {
	if took, failure := waited(t, failedJob(), progressingDeployment()); failure == nil || took < limit {
		t.Errorf("it ended with %v after %s", failure, took)
	}
}

// TestAMissingJobThatDeletesItself: the TTL controller has deleted it after it ended.
func TestAMissingJobThatDeletesItself(t *testing.T) {
	for situation, c := range map[string]struct {
		kind  string
		spec  map[string]any
		ready bool
	}{
		"with a TTL":    {"Job", map[string]any{"ttlSecondsAfterFinished": int64(0)}, true},
		"without a TTL": {"Job", map[string]any{}, false},
		"not a Job":     {"CronJob", map[string]any{"ttlSecondsAfterFinished": int64(0)}, false},
	} {
		t.Run(situation, func(t *testing.T) {
			missing := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "batch/v1", "kind": c.kind, "metadata": map[string]any{"name": "migrate"}, "spec": c.spec,
			}}
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(missing.GroupVersionKind(), meta.RESTScopeNamespace)
			e := object.Editor{Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).Build()}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				err := e.WaitAll(ctx, []*unstructured.Unstructured{missing}, "shop", func(string) {})
				if (err == nil) != c.ready {
					t.Errorf("the result is %v", err)
				}
			})
		})
	}
}

func TestAnUnschedulablePodIsWaitedFor(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", CreationTimestamp: metav1.NewTime(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}}},
	}
	if took, failure := waited(t, pod); failure == nil || took < limit {
		t.Errorf("it ended with %v after %s", failure, took)
	}
}

func TestTheProblemOfTheNewestPodIsTheReasonOfItsWorkload(t *testing.T) {
	cart := map[string]string{"app": "cart"}
	const image = "registry.example/cart:2"
	day := func(n int) metav1.Time { return metav1.NewTime(time.Date(2000, 1, n, 0, 0, 0, 0, time.UTC)) }
	pod := func(name string, created metav1.Time, status corev1.ContainerStatus) client.Object {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: cart, CreationTimestamp: created},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}},
		}
	}
	waits := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "cart", Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	crashed := corev1.ContainerStatus{
		Name: "cart", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}},
	}
	unschedulable := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-2", Labels: cart, CreationTimestamp: day(2)},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available",
		}}},
	}
	old := pod("cart-1", day(1), waits("CrashLoopBackOff", "of the old version"))
	for name, c := range map[string]struct {
		newest client.Object
		want   string
	}{
		"image":         {pod("cart-2", day(2), waits("ImagePullBackOff", "not found")), "ImagePullBackOff: not found: " + image},
		"long":          {pod("cart-2", day(2), waits("ErrImagePull", image+strings.Repeat(" why", 500)+" not found")), "why not found"},
		"config":        {pod("cart-2", day(2), waits("CreateContainerConfigError", `secret "a" not found`)), `CreateContainerConfigError: secret "a" not found`},
		"crash":         {pod("cart-2", day(2), crashed), "Error: container cart exited with code 3"},
		"unschedulable": {unschedulable, "Unschedulable: 0/3 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			workload := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
				Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: cart}},
			}
			_, failure, said := reported(t, []client.Object{progressingJob(), workload}, []client.Object{old, c.newest})
			if failure == nil || !strings.Contains(failure.Error(), "Pod shop/cart-2: ") || !strings.Contains(failure.Error(), c.want) || len(failure.Error()) > 512 {
				t.Errorf("the failure is %v", failure)
			}
			if !strings.HasPrefix(said, "2 of 2 objects not ready, such as Deployment shop/cart (Pod shop/cart-2: ") {
				t.Errorf("it reported %q", said)
			}
		})
	}
}

func progressingJob() client.Object {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "check"}}
}
