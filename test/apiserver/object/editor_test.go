//go:build apiserver

package object

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	imagePath = "/spec/template/spec/containers/0/image"
	namespace = "default"
)

// deployments creates Deployments, which stand for the objects of a component. The tests act on all
// that exist, so none runs beside another one.
func deployments(t *testing.T, names ...string) (*object.Editor, client.WithWatch) {
	t.Helper()
	c, err := client.NewWithWatch(apiserver.Shared(t, apiserver.Options{}).RESTConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.DeleteAllOf(context.WithoutCancel(t.Context()), &appsv1.Deployment{}, client.InNamespace(namespace)); err != nil {
			t.Errorf("deleting Deployments: %v", err)
		}
	})
	for _, name := range names {
		if err := c.Create(t.Context(), deployment(name)); err != nil {
			t.Fatal(err)
		}
	}
	return &object.Editor{Client: c, Manager: "refit-components"}, c
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/" + name + ":v1"}}},
			},
		},
	}
}

// onDeployments calls a function for each event of a Deployment, like a controller.
func onDeployments(t *testing.T, c client.WithWatch, handle func(watch.EventType, *appsv1.Deployment)) {
	t.Helper()
	watcher, err := c.Watch(t.Context(), &appsv1.DeploymentList{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if d, ok := event.Object.(*appsv1.Deployment); ok {
				handle(event.Type, d)
			}
		}
	}()
	t.Cleanup(func() { watcher.Stop(); <-done })
}

// rollsOut is the controller of Deployments: it makes each ready.
func rollsOut(t *testing.T, c client.WithWatch) {
	t.Helper()
	onDeployments(t, c, func(event watch.EventType, d *appsv1.Deployment) {
		if event == watch.Deleted || d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == 1 {
			return
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		_ = c.Status().Update(context.WithoutCancel(t.Context()), d) // a conflict comes with another event
	})
}

func imagesOf(t *testing.T, c client.Client) map[string]string {
	t.Helper()
	var list appsv1.DeploymentList
	if err := c.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	images := map[string]string{}
	for i := range list.Items {
		images[list.Items[i].Name] = list.Items[i].Spec.Template.Spec.Containers[0].Image
	}
	return images
}

func selected(limit time.Duration) refitv1alpha1.RecipeObjects {
	return refitv1alpha1.RecipeObjects{Kind: "Deployment.apps", OneByOne: true, Until: refitv1alpha1.StateReady, Limit: metav1.Duration{Duration: limit}}
}

func TestPatchAndUnpatch(t *testing.T) {
	editor, c := deployments(t, "a", "b")
	rollsOut(t, c)
	saved, err := editor.Values(t.Context(), "Deployment.apps", imagePath)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second try changes nothing
		if err := editor.Patch(t.Context(), selected(time.Minute), imagePath, "example.com/new:v2"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Create(t.Context(), deployment("later")); err != nil {
		t.Fatal(err)
	}
	if got := imagesOf(t, c); got["a"] != "example.com/new:v2" || got["b"] != "example.com/new:v2" {
		t.Errorf("images: %v", got)
	}
	var b appsv1.Deployment // somebody else changes it
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(deployment("b")), &b); err != nil {
		t.Fatal(err)
	}
	b.Spec.Template.Spec.Containers[0].Image = "example.com/b:v3"
	if err := c.Update(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := editor.Unpatch(t.Context(), selected(time.Minute), imagePath, "example.com/new:v2", saved); err != nil {
		t.Fatal(err)
	}
	if got := imagesOf(t, c); got["a"] != "example.com/a:v1" || got["b"] != "example.com/b:v3" || got["later"] != "example.com/later:v1" {
		t.Errorf("images: %v", got)
	}
	if err := editor.Patch(t.Context(), selected(time.Minute), "/spec/absent/field", "x"); err == nil || !strings.Contains(err.Error(), "the field does not exist") {
		t.Errorf("a patch of a field that does not exist: %v", err)
	}
}

func TestAnObjectThatDoesNotBecomeReady(t *testing.T) {
	editor, c := deployments(t, "a", "b")
	err := editor.Touch(t.Context(), selected(2*time.Second), "operation/1")
	notReady, ok := errors.AsType[*object.NotReadyError](err)
	if !ok || notReady.Object != "Deployment default/a" || notReady.Status != "InProgress" {
		t.Fatalf("error %v", err)
	}
	var b appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "b"}, &b); err != nil || b.Annotations[object.AnnotationTouched] != "" {
		t.Errorf("the next object was touched, too: %v, %v", b.Annotations, err)
	}
	// The next try waits for the object that it does not touch again, and goes on.
	rollsOut(t, c)
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, &b); err != nil {
		t.Fatal(err)
	}
	if err := editor.Touch(t.Context(), selected(time.Minute), "operation/1"); err != nil {
		t.Fatal(err)
	}
	var after appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, &after); err != nil || after.Generation != b.Generation {
		t.Errorf("the object was changed again: %v", err)
	}
}

func TestRecreateAgainAfterAKill(t *testing.T) {
	editor, c := deployments(t, "a", "b")
	rollsOut(t, c)
	creates(t, c)
	old, err := editor.Identities(t.Context(), "Deployment.apps")
	if err != nil || len(old) != 2 {
		t.Fatalf("%v, %v", old, err)
	}
	r := object.Recreation{Old: old[:1]}
	r.Save = func(uid types.UID) error { r.Deleting = uid; return nil }
	if err := editor.Recreate(t.Context(), selected(time.Minute), r); err != nil { // then the process died
		t.Fatal(err)
	}
	r.Old = old
	first := uidOf(t, c, "a")
	if err := editor.Recreate(t.Context(), selected(time.Minute), r); err != nil {
		t.Fatal(err)
	}
	if got := uidOf(t, c, "a"); got != first || got == old[0].UID {
		t.Error("an object was recreated twice")
	}
	if uidOf(t, c, "b") == old[1].UID {
		t.Error("an object was not recreated")
	}
}

// creates is a controller that creates deleted Deployments again.
func creates(t *testing.T, c client.WithWatch) {
	t.Helper()
	onDeployments(t, c, func(event watch.EventType, d *appsv1.Deployment) {
		if event == watch.Deleted {
			_ = c.Create(context.WithoutCancel(t.Context()), deployment(d.Name))
		}
	})
}

func uidOf(t *testing.T, c client.Client, name string) types.UID {
	t.Helper()
	var d appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &d); err != nil {
		t.Fatal(err)
	}
	return d.UID
}

func TestKindsThatDoNotExist(t *testing.T) {
	editor, _ := deployments(t)
	if err := editor.Touch(t.Context(), refitv1alpha1.RecipeObjects{Kind: "Thing.example.com"}, "x"); err != nil {
		t.Errorf("a kind that the cluster does not have: %v", err)
	}
}
