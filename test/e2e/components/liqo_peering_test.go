//go:build e2e

package components

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// peering is a site whose Liqo offloads pods to another cluster, which is not upgraded.
type peering struct {
	*site
	provider *cluster.Cluster
}

// offloaded is the namespace whose pods run in the provider.
const offloaded = "offloaded"

// newPeering creates both clusters, with Refit in the consumer, and peers them.
func newPeering(t *testing.T, consumer, provider cluster.Spec) *peering {
	t.Helper()
	p := &peering{site: newSite(t, consumer, liqo)}
	p.peer(t, provider)
	return p
}

// peer creates the provider, installs the old version of Liqo in both clusters, and peers them.
func (p *peering) peer(t *testing.T, provider cluster.Spec) {
	t.Helper()
	p.provider = testbed.Up(t, provider)
	t.Cleanup(func() { p.describeIfFailed(t) })
	for _, c := range []*cluster.Cluster{p.Cluster, p.provider} {
		must(t, c.RoutePods())
		must(t, c.LoadImages(t.Context(), running(p.before[liqo])))
		p.installLiqo(t, c, p.before[liqo])
	}
	p.keepProxyOffVirtualNodes(t)
	begun := time.Now()
	// Without its networking module, a peering needs no tunnel.
	p.liqoctl(t, "peer", "--remote-kubeconfig="+p.provider.KubeconfigFile(), "--networking-disabled", "--cpu=1", "--memory=1Gi", "--pods=10", "--timeout=5m")
	must(t, until(t.Context(), "the virtual node to be ready", checkTimeout, p.virtualNodeReady))
	t.Logf("liqoctl peer took %.0f s", time.Since(begun).Seconds())
}

// keepProxyOffVirtualNodes changes kube-proxy as Liqo's documentation recommends: its pod on a
// virtual node would never become ready, and would stop the rolling update of the others.
func (p *peering) keepProxyOffVirtualNodes(t *testing.T) {
	t.Helper()
	const patch = `{"spec":{"template":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
		{"matchExpressions":[{"key":"liqo.io/type","operator":"DoesNotExist"}]}]}}}}}}}`
	p.kubectl(t, "", "patch", "daemonset", "kube-proxy", "--namespace=kube-system", "--patch="+patch)
	p.kubectl(t, "", "rollout", "status", "daemonset", "kube-proxy", "--namespace=kube-system", "--timeout=3m")
}

// liqoctl runs Liqo's CLI of the old version on the cluster of the site.
func (p *peering) liqoctl(t *testing.T, args ...string) {
	t.Helper()
	out := bed.Run(t, filepath.Join(p.before[liqo].Tools, "liqoctl"), append(args, "--kubeconfig="+p.KubeconfigFile())...)
	t.Logf("liqoctl %s\n%s", args[0], out)
}

// virtualNodeReady returns an error unless the provider is a ready node.
func (p *peering) virtualNodeReady(ctx context.Context) error {
	ctx, cancel := bed.Soon(ctx)
	defer cancel()
	node, err := p.Client.CoreV1().Nodes().Get(ctx, p.provider.Name(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %+v", node.Status.Conditions)
}

// offload creates the namespace whose pods run in the provider.
func (p *peering) offload(t *testing.T) {
	t.Helper()
	p.kubectl(t, "", "create", "namespace", offloaded)
	p.liqoctl(t, "offload", "namespace", offloaded, "--pod-offloading-strategy=Remote", "--namespace-mapping-strategy=EnforceSameName", "--timeout=2m")
}

// runsRemotely creates a pod in the offloaded namespace, which must run in the provider.
func (p *peering) runsRemotely(t *testing.T, name string) {
	t.Helper()
	pod := fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: %s
    imagePullPolicy: Never
    command: [sh, -c, 'trap "exit 0" TERM; while :; do sleep 1; done']
`, name, offloaded, versions.BusyboxImage)
	p.kubectl(t, pod, "create", "--filename=-")
	must(t, until(t.Context(), "Pod "+name+" to run in the provider", checkTimeout, func(ctx context.Context) error { return p.isRemote(ctx, name) }))
}

// isRemote returns an error unless a pod is on the virtual node, and runs in the provider.
func (p *peering) isRemote(ctx context.Context, name string) error {
	pods := map[string]*corev1.Pod{}
	for _, c := range []*cluster.Cluster{p.Cluster, p.provider} {
		out, err := c.Kubectl(ctx, nil, "get", "pod", name, "--namespace="+offloaded, "--output=json")
		if err != nil {
			return err
		}
		pods[c.Name()] = &corev1.Pod{}
		if err := json.Unmarshal(out, pods[c.Name()]); err != nil {
			return err
		}
	}
	here, there := pods[p.Name()], pods[p.provider.Name()]
	if here.Spec.NodeName != p.provider.Name() || here.Status.Phase != corev1.PodRunning || there.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("it is on %q: %+v; in the provider: %+v", here.Spec.NodeName, here.Status, there.Status)
	}
	return nil
}

// describeIfFailed logs the state of Liqo in both clusters.
func (p *peering) describeIfFailed(t *testing.T) {
	t.Helper()
	if !t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	for _, c := range []*cluster.Cluster{p.Cluster, p.provider} {
		for _, args := range [][]string{
			{"get", "nodes,pods", "--all-namespaces", "--output=wide"},
			{"get", strings.Join(liqoKinds, ","), "--all-namespaces"},
			{"logs", "--namespace=liqo", "--selector=app.kubernetes.io/part-of=liqo", "--prefix", "--tail=20"},
		} {
			out, err := c.Kubectl(ctx, nil, args...)
			t.Logf("%s: kubectl %v (%v)\n%s", c.Name(), args[:2], err, out)
		}
	}
}
