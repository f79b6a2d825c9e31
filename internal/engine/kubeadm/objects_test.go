package kubeadm

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
}

func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}
}

// cluster is one with all that the phases change, at "old".
func cluster() *fake.Clientset {
	const image = "old"
	return fake.NewClientset(
		&corev1.ConfigMap{ObjectMeta: named("kubeadm-config"), Data: map[string]string{"ClusterConfiguration": image}},
		&corev1.ConfigMap{ObjectMeta: named("kubelet-config"), Data: map[string]string{"kubelet": image}},
		&corev1.Secret{ObjectMeta: named("bootstrap-token-abcdef"), Data: map[string][]byte{"token-secret": []byte("hidden")}},
		&appsv1.DaemonSet{ObjectMeta: named(kubeProxy), Spec: appsv1.DaemonSetSpec{Template: template(image)}},
		&appsv1.Deployment{ObjectMeta: named(coreDNS), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Template: template(image)}},
	)
}

func change(t *testing.T, client *fake.Clientset, image string) {
	t.Helper()
	ctx := t.Context()
	config, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config.Data["ClusterConfiguration"] = image
	proxy, _ := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(ctx, kubeProxy, metav1.GetOptions{})
	proxy.Spec.Template = template(image)
	dns, _ := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(ctx, coreDNS, metav1.GetOptions{})
	dns.Spec.Template, dns.Spec.Replicas = template(image), ptr.To[int32](5)
	_, first := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Update(ctx, config, metav1.UpdateOptions{})
	_, second := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Update(ctx, proxy, metav1.UpdateOptions{})
	_, third := client.AppsV1().Deployments(metav1.NamespaceSystem).Update(ctx, dns, metav1.UpdateOptions{})
	if err := errors.Join(first, second, third); err != nil {
		t.Fatal(err)
	}
}

func TestObjectsAreSavedOnceAndPutBack(t *testing.T) {
	client, dir := cluster(), filepath.Join(t.TempDir(), "saved")
	if err := SaveObjects(t.Context(), client, dir); err != nil {
		t.Fatal(err)
	}
	change(t, client, "new")
	// The step is done again after a crash: what is there now is not what was there before.
	if err := SaveObjects(t.Context(), client, dir); err != nil {
		t.Fatal(err)
	}
	if text := read(t, filepath.Join(dir, objectsFile)); strings.Contains(text, "new") || strings.Contains(text, "hidden") {
		t.Errorf("too much was saved: %s", text)
	}
	conflicts := 0
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		conflicts++
		return conflicts == 1, nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "kubeadm-config", nil)
	})
	if err := RestoreObjects(t.Context(), client, dir); err != nil {
		t.Fatal(err)
	}
	config, _ := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "kubeadm-config", metav1.GetOptions{})
	proxy, _ := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(t.Context(), kubeProxy, metav1.GetOptions{})
	dns, _ := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(t.Context(), coreDNS, metav1.GetOptions{})
	if config.Data["ClusterConfiguration"] != "old" || proxy.Spec.Template.Spec.Containers[0].Image != "old" || dns.Spec.Template.Spec.Containers[0].Image != "old" {
		t.Errorf("got %v %v %v", config.Data, proxy.Spec, dns.Spec)
	}
	if *dns.Spec.Replicas != 5 {
		t.Errorf("somebody scaled CoreDNS to 5, got %d", *dns.Spec.Replicas)
	}
	client.ClearActions()
	if err := RestoreObjects(t.Context(), client, dir); err != nil {
		t.Fatal(err)
	}
	for _, action := range client.Actions() {
		if action.GetVerb() != "get" {
			t.Errorf("a second time: %s %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
}

func TestWhatIsGoneStaysGone(t *testing.T) {
	client, dir := cluster(), t.TempDir()
	if err := SaveObjects(t.Context(), client, dir); err != nil {
		t.Fatal(err)
	}
	if err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Delete(t.Context(), kubeProxy, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := RestoreObjects(t.Context(), client, dir); err != nil {
		t.Fatal(err)
	}
	if addons, err := ReadAddons(t.Context(), client); err != nil || addons.KubeProxy {
		t.Errorf("kube-proxy was brought back: %v", err)
	}
	if err := RestoreObjects(t.Context(), client, t.TempDir()); err != nil {
		t.Errorf("nothing was saved: %v", err)
	}
	write(t, filepath.Join(dir, objectsFile), "{torn")
	expect(t, RestoreObjects(t.Context(), client, dir), refitv1alpha1.FailureHostBroken, "SavedObjectsBroken")
}

func TestWhichAddonsAreThere(t *testing.T) {
	addons, err := ReadAddons(t.Context(), cluster())
	if err != nil || !addons.CoreDNS || !addons.KubeProxy || addons.Skip() != nil {
		t.Errorf("got %+v, %v", addons, err)
	}
	addons, err = ReadAddons(t.Context(), fake.NewClientset())
	if err != nil || strings.Join(addons.Skip(), " ") != "addon/coredns addon/kube-proxy" {
		t.Errorf("got %+v, %v", addons, err)
	}
	away := cluster()
	away.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	_, err = ReadAddons(t.Context(), away)
	expect(t, err, refitv1alpha1.FailureTransient, "APIUnavailable")
}

func TestTheMirrorPodIsWaitedFor(t *testing.T) {
	manifest := onDisk(t)[APIServer]
	pod := &corev1.Pod{ObjectMeta: named("kube-apiserver-a"), Spec: template("registry.k8s.io/kube-apiserver:v1.34.4").Spec}
	client := fake.NewClientset(pod)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	expect(t, WaitMirror(ctx, client, "a", manifest), refitv1alpha1.FailureTransient, "MirrorPodStale")
	go func() {
		changed := pod.DeepCopy()
		changed.Spec = template("registry.k8s.io/kube-apiserver:v1.35.4").Spec
		_, _ = client.CoreV1().Pods(metav1.NamespaceSystem).Update(t.Context(), changed, metav1.UpdateOptions{})
	}()
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := WaitMirror(ctx, client, "a", manifest); err != nil {
		t.Error(err)
	}
}
