//go:build apiserver

package apiserver

import (
	"fmt"
	"iter"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/refit-dev/refit/test/testbed/figure"
)

func TestManyObjectsAreLoadedWithTheirStatus(t *testing.T) {
	const nodes, pods = 200, 1000
	s := sharedOf(t, Versions(t)[0])
	begun := time.Now()
	if got := s.Load(t, 32, someNodesAndPods(nodes, pods)); got != nodes+pods {
		t.Errorf("%d objects were loaded", got)
	}
	must(t, figure.Print("apiserver_load_rate", (nodes+pods)/time.Since(begun).Seconds(), "objects/s"))

	client := clientFor(t, s.RESTConfig())
	loaded := metav1.ListOptions{LabelSelector: "load=test"}
	nodeList, err := client.CoreV1().Nodes().List(t.Context(), loaded)
	must(t, err)
	podList, err := client.CoreV1().Pods("default").List(t.Context(), loaded)
	must(t, err)
	if len(nodeList.Items) != nodes || len(podList.Items) != pods {
		t.Fatalf("there are %d nodes and %d pods", len(nodeList.Items), len(podList.Items))
	}
	for _, node := range nodeList.Items {
		if node.Status.NodeInfo.KubeletVersion != "v1.35.4" || len(node.Status.Images) == 0 {
			t.Fatalf("node %s has lost its status: %+v", node.Name, node.Status)
		}
	}
	for _, pod := range podList.Items {
		if pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName == "" {
			t.Fatalf("pod %s is %s on %q", pod.Name, pod.Status.Phase, pod.Spec.NodeName)
		}
	}
}

func someNodesAndPods(nodes, pods int) iter.Seq[runtime.Object] {
	labels := map[string]string{"load": "test"}
	var images []corev1.ContainerImage
	for i := range 50 {
		images = append(images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", i, i)}, SizeBytes: 1 << 20})
	}
	return func(yield func(runtime.Object) bool) {
		for i := range nodes {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("load-%d", i), Labels: labels},
				Status:     corev1.NodeStatus{Images: images, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.35.4"}},
			}
			if !yield(node) {
				return
			}
		}
		for i := range pods {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("load-%d", i), Labels: labels},
				Spec:       corev1.PodSpec{NodeName: fmt.Sprintf("load-%d", i%nodes), Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1"}}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
			}
			if !yield(pod) {
				return
			}
		}
	}
}
