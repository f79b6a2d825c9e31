//go:build e2e

package components

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// liqoKinds are the kinds of the objects of a peering.
var liqoKinds = []string{
	"foreignclusters.core.liqo.io", "tenants.authentication.liqo.io", "identities.authentication.liqo.io", "resourceslices.authentication.liqo.io",
	"virtualnodes.offloading.liqo.io", "namespaceoffloadings.offloading.liqo.io", "namespacemaps.offloading.liqo.io",
}

// liqoImages is the prefix of all images of Liqo.
const liqoImages = "ghcr.io/liqotech/"

// peeringObjects returns the objects of the peering and the virtual node. Nothing of them may
// change but the image of the virtual kubelet, which is left out.
func (p *peering) peeringObjects(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, kind := range liqoKinds {
		maps.Copy(out, p.objects(t, kind, "--all-namespaces"))
	}
	for _, kind := range []string{"foreignclusters.core.liqo.io", "resourceslices.authentication.liqo.io", "virtualnodes.offloading.liqo.io"} {
		if out[kind+"/"+p.provider.Name()] == "" {
			t.Errorf("the peering has no %s", kind)
		}
	}
	for name, object := range out {
		out[name] = strings.NewReplacer(p.virtualKubelet(p.before[liqo].Version), "", p.virtualKubelet(p.after[liqo].Version), "").Replace(object)
	}
	node := string(p.kubectl(t, "", "get", "node", p.provider.Name(), "--output=jsonpath={.metadata.uid} {.spec.taints}"))
	out["node/"+p.provider.Name()] = node
	return out
}

func (p *peering) virtualKubelet(version string) string {
	return liqoImages + "virtual-kubelet:v" + version
}

// patchedTo fails unless the VirtualNode has the image of a version.
func (p *peering) patchedTo(t *testing.T, version string) {
	t.Helper()
	image := p.kubectl(t, "", "get", "virtualnodes", "--all-namespaces", "--output=jsonpath={.items[*].spec.template.spec.template.spec.containers[0].image}")
	if want := p.virtualKubelet(version); string(image) != want {
		t.Errorf("the image of the VirtualNode is %q, want %s", image, want)
	}
}

// runsOnly returns an error while a pod of Liqo runs an image of another version, or is not ready,
// in whichever namespace: the pods of virtual kubelets are not of the chart.
func (s *site) runsOnly(tag string) func(context.Context) error {
	return func(ctx context.Context) error {
		out, err := s.Kubectl(ctx, nil, "get", "pods", "--all-namespaces", "--output=json")
		if err != nil {
			return err
		}
		var pods corev1.PodList
		if err := json.Unmarshal(out, &pods); err != nil {
			return err
		}
		found := 0
		for i := range pods.Items {
			pod := &pods.Items[i]
			for _, container := range pod.Spec.Containers {
				image, ofLiqo := strings.CutPrefix(container.Image, liqoImages)
				switch {
				case !ofLiqo:
				case !strings.HasSuffix(image, ":"+tag) || !podReady(pod):
					return fmt.Errorf("Pod %s/%s has %s, and its conditions are %+v", pod.Namespace, pod.Name, image, pod.Status.Conditions)
				default:
					found++
				}
			}
		}
		if found == 0 {
			return fmt.Errorf("no pod of Liqo runs")
		}
		return nil
	}
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// virtualNode returns a VirtualNode whose creation the freeze denies, and no webhook of Liqo
// admits.
func (p *peering) virtualNode() *unstructured.Unstructured {
	object := admitted("offloading.liqo.io/v1beta1", "VirtualNode", map[string]any{"clusterID": p.provider.Name()})
	object.SetLabels(map[string]string{"liqo.io/webhook-skip": "true"})
	return object
}

// asLiqo returns a client of Liqo's controllers.
func (p *peering) asLiqo(t *testing.T) dynamic.Interface {
	t.Helper()
	config, err := p.RESTConfig()
	must(t, err)
	config.QPS, config.Burst = 100, 200
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:liqo:liqo-controller-manager",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:liqo", "system:authenticated"},
	}
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	return client
}
