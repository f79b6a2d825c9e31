//go:build apiserver

package install

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	config       = "../../../config"
	checkTimeout = time.Minute
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bed is a server without nodes, and the Refit installation on it.
type bed struct {
	*apiserver.Server
	*install.Cluster

	client  kubernetes.Interface
	objects dynamic.Interface
}

func newBed(t *testing.T, version string) *bed {
	t.Helper()
	b := &bed{Server: apiserver.Start(t, apiserver.Options{Version: version})}
	var err error
	b.Cluster, err = install.New(b.RESTConfig())
	must(t, err)
	b.client, err = kubernetes.NewForConfig(b.RESTConfig())
	must(t, err)
	b.objects, err = dynamic.NewForConfig(b.RESTConfig())
	must(t, err)
	return b
}

func options() install.Options {
	return install.Options{
		Manifests: os.DirFS(config), Version: "v0.1.0", Controller: "registry.example/refit-controller:v0.1.0", Agent: "registry.example/refit-agent:v0.1.0",
		Keys: map[string]string{"one.pem": "key"}, Settings: "sources: [/srv/refit]\n",
	}
}

func render(t *testing.T, o install.Options) []*unstructured.Unstructured {
	t.Helper()
	objects, err := install.Render(o)
	must(t, err)
	return objects
}

// apply installs, and counts the changes by result.
func (b *bed) apply(t *testing.T, o install.Options, dryRun bool) ([]install.Change, map[install.Action]int) {
	t.Helper()
	changes, err := b.Apply(t.Context(), render(t, o), o.Version, dryRun, install.Callbacks{})
	must(t, err)
	counts := map[install.Action]int{}
	for _, c := range changes {
		counts[c.Action]++
	}
	return changes, counts
}

// labeled returns all objects with the labels of an installation, as "resource namespace/name",
// with their versions.
func (b *bed) labeled(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, gvr := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "namespaces"},
		{Version: "v1", Resource: "serviceaccounts"},
		{Version: "v1", Resource: "configmaps"},
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
	} {
		list, err := b.objects.Resource(gvr).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=refit-install"})
		must(t, err)
		for _, item := range list.Items {
			out[gvr.Resource+" "+item.GetNamespace()+"/"+item.GetName()] = item.GetResourceVersion()
		}
	}
	return out
}

// world simulates the rest of a cluster: the DaemonSet controller, kubelets, and the namespace
// controller.
type world struct {
	*bed
	mu sync.Mutex
	// status returns the status that a kubelet reports for a pod; nil: it has completed.
	status func(pod *corev1.Pod) corev1.PodStatus
}

// live runs a world until the test ends.
func (b *bed) live(t *testing.T) *world {
	t.Helper()
	w := &world{bed: b}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := w.turn(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				t.Logf("the world stumbled: %v", err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return w
}

func (w *world) says(status func(pod *corev1.Pod) corev1.PodStatus) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = status
}

func (w *world) turn(ctx context.Context) error {
	sets, err := w.client.AppsV1().DaemonSets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	nodes, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := w.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range sets.Items {
		if err := w.place(ctx, &sets.Items[i], nodes.Items, pods.Items); err != nil {
			return err
		}
	}
	for i := range pods.Items {
		if err := w.tend(ctx, &pods.Items[i], sets.Items, alive(nodes.Items, pods.Items[i].Spec.NodeName)); err != nil {
			return err
		}
	}
	return w.emptyNamespaces(ctx)
}

// place creates the missing pods of a DaemonSet, and deletes those of a former template.
func (w *world) place(ctx context.Context, set *appsv1.DaemonSet, nodes []corev1.Node, pods []corev1.Pod) error {
	for _, node := range nodes {
		has := false
		for i := range pods {
			p := &pods[i]
			if p.Spec.NodeName != node.Name || !metav1.IsControlledBy(p, set) {
				continue
			}
			if p.Annotations["refit.dev/template"] != set.Spec.Template.Annotations["refit.dev/template"] {
				if err := w.deletePod(ctx, p, 0); err != nil {
					return err
				}
				continue
			}
			has = true
		}
		if has || set.DeletionTimestamp != nil {
			continue
		}
		if _, err := w.client.CoreV1().Pods(set.Namespace).Create(ctx, podOf(set, node.Name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// podOf returns the pod of a DaemonSet for a node.
func podOf(set *appsv1.DaemonSet, node string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: set.Spec.Template.ObjectMeta, Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.GenerateName, pod.Namespace, pod.Spec.NodeName = set.Name+"-", set.Namespace, node
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	return pod
}

func (w *world) deletePod(ctx context.Context, p *corev1.Pod, grace int64) error {
	return w.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
}

func alive(nodes []corev1.Node, name string) bool {
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool {
		return n.Name == name && len(n.Status.Conditions) > 0 && n.Status.Conditions[0].Status == corev1.ConditionTrue
	})
}

// tend deletes a pod that no DaemonSet owns, and reports the status of the others. On a node that
// is not ready, pods are neither reported nor terminated.
func (w *world) tend(ctx context.Context, p *corev1.Pod, sets []appsv1.DaemonSet, kubelet bool) error {
	owner := metav1.GetControllerOf(p)
	if owner == nil {
		return nil
	}
	wanted := slices.ContainsFunc(sets, func(s appsv1.DaemonSet) bool { return s.UID == owner.UID && s.DeletionTimestamp == nil })
	switch {
	case !wanted && kubelet:
		return w.deletePod(ctx, p, 0)
	case !wanted && p.DeletionTimestamp == nil:
		return w.deletePod(ctx, p, 5)
	case !kubelet || p.Status.Phase == corev1.PodRunning:
		return nil
	}
	w.mu.Lock()
	status := done()
	if w.status != nil {
		status = w.status(p)
	}
	w.mu.Unlock()
	p.Status = status
	_, err := w.client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	return err
}

// done returns the status of a pod whose init container has completed.
func done() corev1.PodStatus {
	return corev1.PodStatus{
		Phase:                 corev1.PodRunning,
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "x", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}},
		ContainerStatuses:     []corev1.ContainerStatus{{Name: "pause", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
	}
}

// failing returns the status of a pod whose init container fails repeatedly with a message.
func failing(message string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{{
		Name:                 "x",
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: message}},
	}}}
}

// emptyNamespaces deletes the contents of terminating namespaces, and then the namespaces.
func (w *world) emptyNamespaces(ctx context.Context) error {
	namespaces, err := w.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range namespaces.Items {
		n := &namespaces.Items[i]
		if n.DeletionTimestamp == nil {
			continue
		}
		for _, gvr := range []schema.GroupVersionResource{
			{Group: "apps", Version: "v1", Resource: "daemonsets"},
			{Group: "apps", Version: "v1", Resource: "deployments"},
			{Version: "v1", Resource: "configmaps"},
			{Version: "v1", Resource: "serviceaccounts"},
			{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
			{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
			{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		} {
			if err := w.objects.Resource(gvr).Namespace(n.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
				return err
			}
		}
		left, err := w.client.CoreV1().Pods(n.Name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(left.Items) > 0 { // a pod blocks the deletion of its namespace
			continue
		}
		n.Spec.Finalizers = nil
		if _, err := w.client.CoreV1().Namespaces().Finalize(ctx, n, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// node creates a node that is ready, or not.
func (b *bed) node(t *testing.T, name string, ready bool, change ...func(*corev1.Node)) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/os": "linux"}}}
	for _, c := range change {
		c(node)
	}
	made, err := b.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	must(t, err)
	status := corev1.ConditionTrue
	if !ready {
		status = corev1.ConditionUnknown
	}
	made.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: "Test", Message: "the test says so"}}
	_, err = b.client.CoreV1().Nodes().UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	must(t, err)
}

// operation creates a ClusterUpgrade with a Ready condition, or without any.
func (b *bed) operation(t *testing.T, name, status, reason string, finalizers ...string) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "refit.dev/v1alpha1", "kind": "ClusterUpgrade", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}},
	}}
	object.SetFinalizers(finalizers)
	client := b.objects.Resource(schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: "clusterupgrades"})
	made, err := client.Create(t.Context(), object, metav1.CreateOptions{})
	must(t, err)
	if status == "" {
		return
	}
	must(t, unstructured.SetNestedSlice(made.Object, []any{map[string]any{
		"type": "Ready", "status": status, "reason": reason, "message": "", "lastTransitionTime": "2026-10-01T08:00:00Z",
	}}, "status", "conditions"))
	_, err = client.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	must(t, err)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
