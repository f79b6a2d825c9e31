//go:build e2e

package testbed

import (
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// fullVariable makes the first variant continue to the newest version.
const fullVariable = "REFIT_E2E_FULL"

// TestVariants upgrades a cluster of each kind of host from the older version to the newer one,
// following kubeadm's documentation.
func TestVariants(t *testing.T) {
	t.Run("binaries with the new containerd", func(t *testing.T) {
		spec := cluster.Spec{Name: "bin", ControlPlanes: 3, Workers: 2, Kubernetes: older, Install: builder.InstallBinaries, Containerd: builder.ContainerdBuilt}
		c, seconds := timedUp(t, spec)
		show(t, "up_3_2_warm", seconds, "s")
		must(t, c.Smoke(t.Context())) // memory is measured under load
		memory, err := c.Memory()
		must(t, err)
		show(t, "memory_3_2", float64(memory)/1e9, "GB")
		if seconds > 120 || memory > 4e9 {
			t.Errorf("3+2 took %.0f s and %.1f GB, want at most 120 s and 4 GB", seconds, float64(memory)/1e9)
		}
		report := upgradeByTheBook(t, c, newer)
		show(t, "bare_upgrade_3_2", report.Seconds, "s")
		bed.ShowGaps(t, "bare", "3_2", *report.Availability)
		if os.Getenv(fullVariable) != "" {
			report := upgradeByTheBook(t, c, newest)
			show(t, "bare_upgrade_3_2_newest", report.Seconds, "s")
		}
	})
	t.Run("packages with Debian's containerd", func(t *testing.T) {
		spec := cluster.Spec{Name: "deb", ControlPlanes: 3, Workers: 2, Kubernetes: older, Install: builder.InstallDeb, Containerd: builder.ContainerdDebian}
		c, seconds := timedUp(t, spec)
		show(t, "up_3_2_deb_warm", seconds, "s")
		report := upgradeByTheBook(t, c, newer)
		show(t, "bare_upgrade_3_2_deb", report.Seconds, "s")
		bed.ShowGaps(t, "bare", "3_2_deb", *report.Availability)
		packagesAre(t, c, newer)
	})
}

// TestSingleControlPlane measures the documented procedure on a single node.
func TestSingleControlPlane(t *testing.T) {
	c, seconds := timedUp(t, cluster.Spec{Name: "one", Kubernetes: older})
	show(t, "up_1_warm", seconds, "s")
	report := upgradeByTheBook(t, c, newer)
	show(t, "bare_upgrade_1", report.Seconds, "s")
	bed.ShowGaps(t, "bare", "1", *report.Availability)
}

// TestManyNodes verifies that 3+5 nodes start on this machine.
func TestManyNodes(t *testing.T) {
	c, seconds := timedUp(t, cluster.Spec{Name: "many", ControlPlanes: 3, Workers: 5, Zones: []string{"a", "b", "c"}, Kubernetes: older})
	show(t, "up_3_5_warm", seconds, "s")
	memory, err := c.Memory()
	must(t, err)
	show(t, "memory_3_5", float64(memory)/1e9, "GB")
	must(t, c.Smoke(t.Context()))
	client, err := c.Client()
	must(t, err)
	for _, n := range c.Nodes() {
		got, err := client.CoreV1().Nodes().Get(t.Context(), n.Name(), metav1.GetOptions{})
		must(t, err)
		if zone := got.Labels["topology.kubernetes.io/zone"]; zone != n.Zone() {
			t.Errorf("node %s is labeled as of zone %q, want %q", n.Name(), zone, n.Zone())
		}
	}
}

// upgradeByTheBook runs the smoke test, upgrades with sampling, checks every version and runs the
// smoke test again.
func upgradeByTheBook(t *testing.T, c *cluster.Cluster, to string) bare.Report {
	t.Helper()
	must(t, c.Smoke(t.Context()))
	report, err := bare.Upgrade(t.Context(), c, to, true, progress.New(os.Stdout))
	must(t, report.WriteTable(os.Stdout))
	must(t, err)
	versionsAre(t, c, to)
	must(t, c.Smoke(t.Context()))
	return report
}

// versionsAre checks that every part of the cluster is at the release's version.
func versionsAre(t *testing.T, c *cluster.Cluster, kubernetes string) {
	t.Helper()
	release, err := versions.Lookup(kubernetes)
	must(t, err)
	client, err := c.Client()
	must(t, err)
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, n := range nodes.Items {
		if !cluster.NodeReady(n) || n.Status.NodeInfo.KubeletVersion != kubernetes || n.Spec.Unschedulable {
			t.Errorf("node %s: ready %t, kubelet %s, cordoned %t", n.Name, cluster.NodeReady(n), n.Status.NodeInfo.KubeletVersion, n.Spec.Unschedulable)
		}
	}
	want := map[string]string{}
	for _, image := range release.KubeadmImages() {
		name, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
		want[name] = image
	}
	seen := map[string]int{}
	pods, err := client.CoreV1().Pods(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, p := range pods.Items {
		image := p.Spec.Containers[0].Image
		name, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
		seen[name]++
		if p.DeletionTimestamp == nil && image != want[name] {
			t.Errorf("Pod %s runs %s, want %s", p.Name, image, want[name])
		}
	}
	for name := range want {
		if name != "pause" && seen[name] == 0 {
			t.Errorf("no Pod runs %s", name)
		}
	}
}

// packagesAre checks the versions in the hosts' package databases.
func packagesAre(t *testing.T, c *cluster.Cluster, kubernetes string) {
	t.Helper()
	release, err := versions.Lookup(kubernetes)
	must(t, err)
	for _, n := range c.Nodes() {
		for _, name := range []string{"kubeadm", "kubectl", "kubelet"} {
			out, err := n.Exec(t.Context(), "dpkg-query", "--show", "--showformat=${Version} ${Status}", name)
			must(t, err)
			if want := release.PackageVersion() + " hold ok installed"; string(out) != want {
				t.Errorf("%s on %s is %q, want %q", name, n.Name(), out, want)
			}
		}
	}
}
