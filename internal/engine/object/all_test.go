package object_test

import (
	"context"
	"errors"
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
	var took time.Duration
	var failure *object.NotReadyError
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
		e := object.Editor{Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithObjects(live...).Build()}
		started := time.Now()
		err := e.WaitAll(ctx, objects, "shop", func(string) {})
		took = time.Since(started)
		failure, _ = errors.AsType[*object.NotReadyError](err)
	})
	return took, failure
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
