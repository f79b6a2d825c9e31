//go:build e2e

package testbed

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// faultLasts is longer than the detection times of a load balancer, a lease and an etcd election.
const faultLasts = 15 * time.Second

// fault is a disturbance of a node that can be undone.
type fault struct {
	name       string
	inflict    func(context.Context, *cluster.Node) error
	during     string // the node's state during the fault
	undo       func(context.Context, *cluster.Node) error
	cutsOffAPI bool // this node's API server is unreachable during the fault
}

var faults = []fault{
	{
		"poweroff", func(ctx context.Context, n *cluster.Node) error { return n.Poweroff(ctx) }, "off",
		func(ctx context.Context, n *cluster.Node) error { return n.Start(ctx) }, true,
	},
	{
		"kill", func(ctx context.Context, n *cluster.Node) error { return n.Kill(ctx) }, "off",
		func(ctx context.Context, n *cluster.Node) error { return n.Start(ctx) }, true,
	},
	{
		"freeze", func(_ context.Context, n *cluster.Node) error { return n.Freeze() }, "frozen",
		func(_ context.Context, n *cluster.Node) error { return n.Thaw() }, true,
	},
	{
		"partition", func(_ context.Context, n *cluster.Node) error { return n.Partition() }, "partitioned",
		func(_ context.Context, n *cluster.Node) error { return n.Heal() }, true,
	},
	{
		"reboot", func(ctx context.Context, n *cluster.Node) error { return n.Reboot(ctx) }, "running",
		func(context.Context, *cluster.Node) error { return nil }, false,
	},
	{
		"reboot_from_inside", rebootFromInside, "running",
		func(context.Context, *cluster.Node) error { return nil }, false,
	},
}

// rebootFromInside makes the node reboot itself and waits until the start time of its systemd has
// changed.
func rebootFromInside(ctx context.Context, n *cluster.Node) error {
	started := func() (string, error) {
		out, err := n.Exec(ctx, "systemctl", "show", "--property=UserspaceTimestampMonotonic")
		return string(out), err
	}
	before, err := started()
	if err != nil {
		return err
	}
	if _, err := n.Exec(ctx, "systemctl", "reboot", "--no-block"); err != nil {
		return err
	}
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if now, err := started(); err == nil && now != before {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("node %s did not come back from its own reboot; it is %s", n.Name(), n.State())
		}
	}
}

// TestFaults injects each fault into a control plane node and a worker of 3+2. The endpoint must
// respond during the fault, and the cluster must become ready again afterwards.
func TestFaults(t *testing.T) {
	c := testbed.Up(t, cluster.Spec{Name: "fault", ControlPlanes: 3, Workers: 2, Kubernetes: older})
	must(t, c.Smoke(t.Context()))
	for role, short := range map[string]string{cluster.RoleControlPlane: "cp", cluster.RoleWorker: "worker"} {
		// The first control plane node is the worst one to lose: it has led etcd since the start.
		n := c.OfRole(role)[0]
		for _, f := range faults {
			t.Run(f.name+" of a "+role+" node", func(t *testing.T) { faultAndRecovery(t, c, n, f, short) })
		}
	}
	must(t, c.Smoke(t.Context()))
}

// lateKubelet makes the kubelet's first start after a boot fail, and systemd wait before the second
// one.
const lateKubelet = `[Service]
ExecStartPre=sh -c 'test -e /run/late || { touch /run/late; exit 1; }'
RestartSec=12
`

// TestLateKubelet cuts the power of a worker whose kubelet then starts late. The cluster has not
// recovered until that kubelet has reported the status of its Pods.
func TestLateKubelet(t *testing.T) {
	c := testbed.Up(t, cluster.Spec{Name: "late", Workers: 1, Kubernetes: older})
	must(t, c.Smoke(t.Context()))
	worker := c.OfRole(cluster.RoleWorker)[0]
	_, err := worker.ExecInput(t.Context(), strings.NewReader(lateKubelet), "tee", "/etc/systemd/system/kubelet.service.d/99-late.conf")
	must(t, err)

	must(t, worker.Kill(t.Context()))
	must(t, worker.Start(t.Context()))
	must(t, c.WaitRecovered(t.Context(), recovery))
	running, err := worker.Exec(t.Context(), "ctr", "--namespace=k8s.io", "tasks", "list", "--quiet")
	must(t, err)
	client, err := c.Client()
	must(t, err)
	pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + worker.Name()})
	must(t, err)
	for _, pod := range pods.Items {
		for _, s := range pod.Status.ContainerStatuses {
			if s.Ready && !strings.Contains(string(running), strings.TrimPrefix(s.ContainerID, "containerd://")) {
				t.Errorf("the API calls container %s of Pod %s ready, which died with the power", s.Name, pod.Name)
			}
		}
	}
	must(t, c.Smoke(t.Context()))
}

func faultAndRecovery(t *testing.T, c *cluster.Cluster, n *cluster.Node, f fault, short string) {
	t.Helper()
	sampler, err := bare.StartSampler(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { sampler.Stop() })
	// The broken node must not run probes.
	must(t, sampler.Exclude(n.Name()))
	must(t, f.inflict(t.Context(), n))
	if f.cutsOffAPI {
		if state := n.State(); state != f.during {
			t.Errorf("node %s is %s, want %s", n.Name(), state, f.during)
		}
		time.Sleep(faultLasts) // the fault must last long enough to be detected
		endpointAnswers(t, c)
	}
	must(t, f.undo(t.Context(), n))
	begun := time.Now()
	must(t, c.WaitRecovered(t.Context(), recovery))
	show(t, f.name+"_"+short+"_recovery", time.Since(begun).Seconds(), "s")
	report := sampler.Stop()
	must(t, report.WriteTable(os.Stdout))
	bed.ShowGaps(t, f.name+"_"+short, "3_2", report)
}

// endpointAnswers queries the API through the load balancer for some seconds.
func endpointAnswers(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	client, err := c.Client()
	must(t, err)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		cancel()
		if err != nil {
			t.Errorf("the endpoint does not answer: %v", err)
			return
		}
	}
}
