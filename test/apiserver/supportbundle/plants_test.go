//go:build apiserver

package supportbundle

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
)

// plant is a secret in the cluster. None of them is a real credential.
type plant struct {
	secret string
	// shown is what the bundle has in its place: the secret was collected, and then redacted.
	shown string
}

// canary is a part of a secret that nothing else has.
func canary(number int) string { return fmt.Sprintf("c4nary%02dV4lue", number) }

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// key is a private key without a key in it.
func key(number int) string {
	line := (strings.Repeat(canary(number), 6) + "AbCdEfGh")[:64]
	return "-----BEGIN RSA PRIVATE " + "KEY-----\n" + line + "\n" + line + "\n-----END RSA PRIVATE " + "KEY-----"
}

// plants are the secrets by their numbers.
var plants = map[int]plant{
	// In objects.
	1:  {canary(1), "plant-01 password=[redacted:named]"},
	2:  {canary(2), "kubectl.kubernetes.io/last-applied-configuration: '[redacted:last-applied]'"},
	3:  {canary(3), "name: PLANT_03_PASSWORD\n      value: '[redacted:env]'"},
	4:  {canary(4), "--plant-04-token=[redacted:"},
	5:  {canary(5), "values: '[redacted:component-values]'"},
	6:  {"eyJ" + canary(6), "plant-06 [redacted:jwt]"},
	7:  {canary(7), "plant-07 https://robot:[redacted:url-password]@"},
	8:  {"ACME-4708", "plant-08 of [redacted:configured]"},
	9:  {canary(9), "plant-09 [redacted:private-key]"},
	10: {canary(10), "name: PLANT_10_SECRET\n          value: '[redacted:env]'"},
	// In Events.
	11: {canary(11), "plant-11 Bearer [redacted:bearer]"},
	12: {encoded(canary(12)), "plant-12 {\"kind\":\"Secret\",\"data\":{[redacted:secret-data]}"},
	13: {"0123456789abcd13", "plant-13 [redacted:bootstrap-token]"},
	// In logs, through the kubelet.
	14: {canary(14), "plant-14 Authorization: [redacted:authorization]"},
	15: {canary(15), "plant-15 [redacted:private-key]"},
	16: {encoded("robot:" + canary(16)), `"plant-16":{"auth":"[redacted:docker-auth]"}`},
	17: {"AKIAC4NARYVALUE17XYZ", "plant-17 [redacted:provider-token]"},
	18: {"ACME-4718", "plant-18 of [redacted:configured]"},
	19: {encoded("password: " + canary(19) + " and more"), "plant-19 [redacted:base64]"},
	// In the archive of a host whose agent redacts nothing.
	20: {encoded(key(20))[20:60], "plant-20 client-key-data: [redacted:"},
	21: {canary(21), "plant-21 https://robot:[redacted:url-password]@"},
	22: {canary(22), "plant-22 token=[redacted:named]"},
	// In the message of a kubelet, which the index has.
	23: {canary(23), "plant-23 https://robot:[redacted:url-password]@"},
	24: {"ACME-4724", "plant-24 of [redacted:configured]"},
}

// plant creates objects, Events and logs with the secrets.
func (k *kubelets) plant(t *testing.T) {
	t.Helper()
	objects, err := dynamic.NewForConfig(k.RESTConfig())
	must(t, err)
	for resource, text := range map[string]map[string]any{
		"clusterupgrades": {"kind": "ClusterUpgrade", "spec": map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}}, "metadata": map[string]any{
			"name": "to-v1-36-3", "annotations": map[string]any{
				"example.com/note":                 "plant-01 password=" + canary(1),
				corev1.LastAppliedConfigAnnotation: `{"spec":{"x":"` + canary(2) + `"}}`,
			},
		}},
		"components": {"kind": "Component", "metadata": map[string]any{"name": "ingress"}, "spec": map[string]any{
			"values": map[string]any{"note": canary(5)},
		}},
	} {
		text["apiVersion"] = refitv1alpha1.GroupVersion.String()
		_, err := objects.Resource(refitv1alpha1.GroupVersion.WithResource(resource)).Create(t.Context(), &unstructured.Unstructured{Object: text}, metav1.CreateOptions{})
		must(t, err)
	}
	k.node(t, "cp-1", k.port, corev1.ConditionTrue, map[string]string{
		"example.com/session": "plant-06 eyJ" + canary(6) + "." + "eyJpc3MiOiJ0ZXN0In0" + ".c2lnbmF0dXJl", "example.com/repository": "plant-07 https://robot:" + canary(7) + "@git.example/x",
		"example.com/customer": "plant-08 of ACME-4708", "example.com/certificate": "plant-09 " + key(9),
	})
	k.node(t, "worker-1", k.port, corev1.ConditionTrue, nil)
	k.node(t, "worker-2", k.port, corev1.ConditionUnknown, nil) // it is down
	k.waiting["worker-1"] = "plant-23 https://robot:" + canary(23) + "@registry.example is unreachable, plant-24 of ACME-4724"
	k.plantPods(t)
	for namespace, message := range map[string]string{
		"default": "plant-11 Bearer " + canary(11) + "-0123456789", "refit-system": `plant-12 {"kind":"Secret","data":{"x":"` + encoded(canary(12)) + `"}}`,
		"refit-agent": "plant-13 abcdef.0123456789abcd13",
	} {
		_, err := k.admin.CoreV1().Events(namespace).Create(t.Context(), &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "plant-", Namespace: namespace}, Message: message, LastTimestamp: metav1.Now(),
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "x"},
		}, metav1.CreateOptions{})
		must(t, err)
	}
	// Neither Secrets nor ConfigMaps are collected.
	_, err = k.admin.CoreV1().Secrets("refit-system").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "plant"}, StringData: map[string]string{"x": "c4nary-of-a-secret"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = k.admin.CoreV1().ConfigMaps("refit-system").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "plant"}, Data: map[string]string{"x": "c4nary-of-a-configmap"}}, metav1.CreateOptions{})
	must(t, err)
	k.stream = hostileHost
}

// plantPods creates a Deployment, and a Pod that was restarted, with its logs.
func (k *kubelets) plantPods(t *testing.T) {
	t.Helper()
	safe := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	labels := map[string]string{"app": "plant"}
	_, err := k.admin.AppsV1().Deployments("refit-system").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "plant"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x", SecurityContext: safe, Env: []corev1.EnvVar{
				{Name: "PLANT_10_SECRET", Value: canary(10)},
			}}}},
		}},
	}, metav1.CreateOptions{})
	must(t, err)
	pod, err := k.admin.CoreV1().Pods("refit-system").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "controller"},
		Spec: corev1.PodSpec{NodeName: "cp-1", Containers: []corev1.Container{{
			Name: "controller", Image: "x", SecurityContext: safe, Args: []string{"--plant-04-token=" + canary(4)},
			Env: []corev1.EnvVar{{Name: "PLANT_03_PASSWORD", Value: canary(3)}},
		}}},
	}, metav1.CreateOptions{})
	must(t, err)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "controller", Image: "x", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}}
	_, err = k.admin.CoreV1().Pods("refit-system").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	must(t, err)
	k.logs["refit-system/controller/controller"] = strings.Join([]string{
		"plant-14 Authorization: Custom " + canary(14), "plant-15 " + key(15), `{"auths":{"plant-16":{"auth":"` + encoded("robot:"+canary(16)) + `"}}}`,
		"plant-18 of ACME-4718", "the last line", "",
	}, "\n")
	k.logs["refit-system/controller/controller?previous"] = "plant-17 AKIAC4NARYVALUE17XYZ\nplant-19 " + encoded("password: "+canary(19)+" and more") + "\n"
}

// hostileHost prints an archive that no rule was applied to.
func hostileHost(to io.Writer) error {
	stream := archive.NewStreamWriter(to)
	index := &cliv1alpha1.SupportBundle{Kind: cliv1alpha1.KindSupportBundle, Time: time.Now()}
	w := archive.New(stream, index, "", 1<<20)
	for _, p := range []archive.Part{
		{
			BundlePart: cliv1alpha1.BundlePart{Path: "journal/kubelet.log", Source: "journal of kubelet.service", Note: "plant-22 token=" + canary(22)},
			Content:    []byte("plant-20 client-key-data: " + encoded(key(20)) + "\n"),
		},
		{
			BundlePart: cliv1alpha1.BundlePart{Path: "journal/containerd.log", Source: "journal of containerd.service"},
			Content:    []byte("plant-21 https://robot:" + canary(21) + "@registry.example/v2/\n"),
		},
	} {
		if err := w.Add(p); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return stream.Close()
}
