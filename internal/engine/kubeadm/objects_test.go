package kubeadm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem}
}

// running is the metadata of a workload, whose generation an API server counts.
func running(name string) metav1.ObjectMeta {
	meta := named(name)
	meta.Generation = 1
	return meta
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
		&appsv1.DaemonSet{ObjectMeta: running(kubeProxy), Spec: appsv1.DaemonSetSpec{Template: template(image)}},
		&appsv1.Deployment{ObjectMeta: running(coreDNS), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Template: template(image)}},
	)
}

// change is what the phases do.
func change(t *testing.T, client *fake.Clientset, image string) {
	t.Helper()
	changeConfig(t, client, image)
	changeAddons(t, client, image)
}

func changeConfig(t *testing.T, client *fake.Clientset, image string) {
	t.Helper()
	config, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "kubeadm-config", metav1.GetOptions{})
	must(t, err)
	config.Data["ClusterConfiguration"] = image
	_, err = client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Update(t.Context(), config, metav1.UpdateOptions{})
	must(t, err)
}

func changeAddons(t *testing.T, client *fake.Clientset, image string) {
	t.Helper()
	proxy, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(t.Context(), kubeProxy, metav1.GetOptions{})
	must(t, err)
	proxy.Spec.Template = template(image)
	proxy.Generation++
	dns, err := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(t.Context(), coreDNS, metav1.GetOptions{})
	must(t, err)
	dns.Spec.Template = template(image)
	dns.Generation++
	_, err = client.AppsV1().DaemonSets(metav1.NamespaceSystem).Update(t.Context(), proxy, metav1.UpdateOptions{})
	must(t, err)
	_, err = client.AppsV1().Deployments(metav1.NamespaceSystem).Update(t.Context(), dns, metav1.UpdateOptions{})
	must(t, err)
}

func TestInstalledAddons(t *testing.T) {
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

func TestKubeadmWaitsForTheMirrorPod(t *testing.T) {
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
