//go:build apiserver

package install

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/test/apiserver"
)

func cordoned(by string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		if by != "" {
			n.Annotations = map[string]string{"refit.dev/cordoned-by": by}
		}
	}
}

// protected is a node that Refit keeps autoscalers from, and the user Karpenter.
func protected(n *corev1.Node) {
	n.Annotations = map[string]string{
		"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true", "karpenter.sh/do-not-disrupt": "true",
		"refit.dev/protected-by": "6d0f4bd6", "refit.dev/protected-with": "cluster-autoscaler.kubernetes.io/scale-down-disabled",
	}
}

var reports = schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: "nodereports"}

// full returns a cluster in which Refit has been in use.
func full(t *testing.T, version string) (*bed, *world) {
	t.Helper()
	b := newBed(t, version)
	w := b.live(t)
	b.node(t, "n1", true, protected)
	b.node(t, "n2", true, cordoned("6d0f4bd6-3c1e-4a7e-9c5f-2f8d6a1b7e90"))
	b.node(t, "n3", true, cordoned("")) // by a user
	b.node(t, "n4", false)
	o := options()
	o.Components = components
	b.apply(t, o, false)
	b.usedComponents(t)
	b.operation(t, "summer", "True", "Succeeded", "refit.dev/uncordon")
	_, err := b.objects.Resource(reports).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "refit.dev/v1alpha1", "kind": "NodeReport", "metadata": map[string]any{"name": "n1"}, "spec": map[string]any{},
	}}, metav1.CreateOptions{})
	must(t, err)
	return b, w
}

func TestARemovalLeavesNothing(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b, w := full(t, version)
		// Foreign objects with similar names or labels.
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "refit-agent"}}
		_, err := b.client.CoreV1().ConfigMaps("default").Create(t.Context(), theirs, metav1.CreateOptions{})
		must(t, err)

		survey, err := b.Survey(t.Context(), options())
		must(t, err)
		if !slices.Contains(survey.Content, install.Count{Resource: "components", Number: 1}) {
			t.Errorf("%+v", survey.Content)
		}
		if !survey.Installed() || survey.Version != "v0.1.0" || !slices.Equal(survey.Cordoned, []string{"n2"}) || !slices.Equal(survey.Unreachable, []string{"n4"}) ||
			!slices.Equal(survey.Nodes, []string{"n1", "n2", "n3"}) || survey.Content[0] != (install.Count{Resource: "clusterupgrades", Number: 1}) {
			t.Errorf("%+v", survey)
		}

		t.Run("a host that is at work stops it before anything else goes", func(t *testing.T) {
			w.says(func(pod *corev1.Pod) corev1.PodStatus {
				if pod.Spec.NodeName == "n1" {
					return failing("refit-agent: an upgrade is in progress on this host")
				}
				return done()
			})
			out, err := b.Remove(within(t, 15*time.Second), options(), install.Callbacks{})
			if !errors.Is(err, install.ErrNotDone) || !slices.ContainsFunc(out.Nodes, func(n install.NodeProgress) bool {
				return n.Node == "n1" && n.State == install.Failing && strings.Contains(n.Why, "an upgrade is in progress")
			}) {
				t.Errorf("%v %+v", err, out.Nodes)
			}
			if _, err := b.objects.Resource(reports).Get(t.Context(), "n1", metav1.GetOptions{}); err != nil {
				t.Errorf("its report: %v", err)
			}
		})
		w.says(nil)
		h := &heard{}
		out, err := b.Remove(within(t, checkTimeout), options(), h.callbacks())
		must(t, err)
		var states []string
		for _, n := range out.Nodes {
			states = append(states, n.Node+" "+string(n.State))
		}
		if !slices.Equal(states, []string{"n1 Done", "n2 Done", "n3 Done", "n4 Unreachable"}) || !h.has("n1 Done") {
			t.Errorf("%v %q", states, h.lines)
		}
		b.nothingLeft(t)
		if left := b.freezes(t); left > 0 {
			t.Errorf("%d objects of freezes are left", left)
		}
		// What Helm installed is not Refit's.
		_, err = b.client.CoreV1().Secrets("default").Get(t.Context(), "sh.helm.release.v1.liqo.v1", metav1.GetOptions{})
		must(t, err)
		for name, want := range map[string]bool{"n1": false, "n2": false, "n3": true} {
			node, err := b.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
			must(t, err)
			if node.Spec.Unschedulable != want || node.Annotations["refit.dev/cordoned-by"] != "" {
				t.Errorf("%s is cordoned: %v %v", name, node.Spec.Unschedulable, node.Annotations)
			}
			if own := map[string]string{"karpenter.sh/do-not-disrupt": "true"}; name == "n1" && !maps.Equal(node.Annotations, own) {
				t.Errorf("n1 has %v, want %v", node.Annotations, own)
			}
		}
		_, err = b.client.CoreV1().ConfigMaps("default").Get(t.Context(), "refit-agent", metav1.GetOptions{})
		must(t, err)
		if _, err := b.Remove(t.Context(), options(), install.Callbacks{}); !errors.Is(err, install.ErrNotInstalled) {
			t.Errorf("the second time: %v", err)
		}
	})
}

func (b *bed) nothingLeft(t *testing.T) {
	t.Helper()
	if left := b.labeled(t); len(left) > 0 {
		t.Errorf("these are left: %v", left)
	}
	namespaces, err := b.client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, n := range namespaces.Items {
		if strings.HasPrefix(n.Name, "refit") {
			t.Errorf("the namespace %s is left", n.Name)
		}
	}
	if _, err := b.objects.Resource(reports).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("reports can still be asked for: %v", err)
	}
	pods, err := b.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, p := range pods.Items {
		t.Errorf("the pod %s on %s is left", p.Name, p.Spec.NodeName)
	}
}

// TestAnInterruptedRemoval interrupts a removal at any point: it can be retried, or reverted by an
// install.
func TestAnInterruptedRemoval(t *testing.T) {
	version := apiserver.Versions(t)[0]
	t.Run("after the hosts: they are not asked for again", func(t *testing.T) {
		b, w := full(t, version)
		gone := false
		callbacks := install.Callbacks{Object: func(c install.Change) { gone = gone || c.Kind == "CustomResourceDefinition" }}
		ctx := within(t, checkTimeout)
		// A foreign finalizer keeps the operation, and with it the definition.
		b.operation(t, "stuck", "True", "Succeeded", "example.dev/keep")
		short := within(t, 12*time.Second)
		_, err := b.Remove(short, options(), callbacks)
		if err == nil || !gone || !strings.Contains(err.Error(), "clusterupgrades.refit.dev to be deleted") {
			t.Fatalf("%v, and it came to the definitions: %v", err, gone)
		}
		w.says(func(*corev1.Pod) corev1.PodStatus { return failing("there is no such image any more") })
		operations := b.objects.Resource(schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: "clusterupgrades"})
		stuck, err := operations.Get(t.Context(), "stuck", metav1.GetOptions{})
		must(t, err)
		stuck.SetFinalizers(nil)
		_, err = operations.Update(t.Context(), stuck, metav1.UpdateOptions{})
		must(t, err)
		_, err = b.Remove(ctx, options(), install.Callbacks{})
		must(t, err)
		b.nothingLeft(t)
	})
	t.Run("after the DaemonSet of the chart, which has no inventory: the image is known", func(t *testing.T) {
		b, w := full(t, version)
		must(t, b.client.CoreV1().ConfigMaps("refit-system").Delete(t.Context(), "refit-install", metav1.DeleteOptions{}))
		ctx, cancel := context.WithCancel(within(t, checkTimeout))
		callbacks := install.Callbacks{Object: func(c install.Change) {
			if c.Kind == "DaemonSet" && c.Name == "refit-agent" {
				cancel()
			}
		}}
		if _, err := b.Remove(ctx, options(), callbacks); err == nil {
			t.Fatal("it was not interrupted")
		}
		var image atomic.Value
		w.says(func(pod *corev1.Pod) corev1.PodStatus {
			image.Store(pod.Spec.InitContainers[0].Image)
			return done()
		})
		other := options()
		other.Agent = "unreachable.example/refit-agent:v9"
		_, err := b.Remove(within(t, checkTimeout), other, install.Callbacks{})
		must(t, err)
		if image.Load() != options().Agent {
			t.Errorf("it used the image %v", image.Load())
		}
		b.nothingLeft(t)
	})
	t.Run("by an image that hosts cannot pull: the user names another one", func(t *testing.T) {
		b, w := full(t, version)
		chosen := options()
		chosen.Agent, chosen.AgentChosen = "mirror.example/refit-agent:v9", true
		w.says(func(pod *corev1.Pod) corev1.PodStatus {
			if pod.Spec.InitContainers[0].Image != chosen.Agent {
				return failing("ErrImagePull")
			}
			return done()
		})
		if _, err := b.Remove(within(t, 8*time.Second), options(), install.Callbacks{}); !errors.Is(err, install.ErrNotDone) {
			t.Fatal(err)
		}
		_, err := b.Remove(within(t, checkTimeout), chosen, install.Callbacks{})
		must(t, err)
		b.nothingLeft(t)
	})
	t.Run("at the hosts: an install takes it back, and nothing removes what it places", func(t *testing.T) {
		b, w := full(t, version)
		w.says(func(*corev1.Pod) corev1.PodStatus { return failing("not yet") })
		if _, err := b.Remove(within(t, 8*time.Second), options(), install.Callbacks{}); !errors.Is(err, install.ErrNotDone) {
			t.Fatal(err)
		}
		sets := b.client.AppsV1().DaemonSets("refit-agent")
		_, err := sets.Get(t.Context(), "refit-remove", metav1.GetOptions{})
		must(t, err)
		changes, _ := b.apply(t, options(), false)
		removing := slices.IndexFunc(changes, func(c install.Change) bool { return c.Name == "refit-remove" && c.Action == install.Removed })
		placing := slices.IndexFunc(changes, func(c install.Change) bool {
			return c.Kind == "DaemonSet" && c.Name == "refit-agent" && c.Action == install.Created
		})
		if removing < 0 || placing < removing {
			t.Errorf("%v", changes)
		}
		if _, err := sets.Get(t.Context(), "refit-remove", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("refit-remove: %v", err)
		}
	})
}
