//go:build e2e

package upgrade

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	restoreRunbook = "../../../docs/runbooks/restore.md"
	// restoreMark precedes each block of the runbook that is run.
	restoreMark = "<!-- run by TestBackupRestore -->\n```bash\n"
)

// TestBackupRestoreSingle corrupts the data of the only etcd member and follows
// docs/runbooks/restore.md. Then it deletes the data, restores again, and upgrades.
func TestBackupRestoreSingle(t *testing.T) {
	s, r := newRestored(t, cluster.Spec{Name: "restore1", ControlPlanes: 1, Workers: 1, Kubernetes: older})
	s.losesAndRestores(t, "corrupted", 1, corruptEtcd, true)
	s.losesAndRestores(t, "deleted", 1, deleteEtcd, false)
	s.Upgrade(t, newer, waiveBare...).Wait(t, whole, exitDone)
	s.isAt(t, r)
}

// TestBackupRestoreThree loses the data of one of three members, which is replaced, and then that
// of all of them.
func TestBackupRestoreThree(t *testing.T) {
	s, r := newRestored(t, cluster.Spec{Name: "restore3", ControlPlanes: 3, Workers: 1, Kubernetes: older})
	s.losesAndRestores(t, "one-of-three", 1, loseEtcd, true)
	s.losesAndRestores(t, "all-three-corrupted", 3, corruptEtcd, true)
	s.losesAndRestores(t, "all-three", 3, loseEtcd, true)
	s.Upgrade(t, newer, waiveBare...).Wait(t, whole, exitDone)
	s.isAt(t, r)
}

func newRestored(t *testing.T, spec cluster.Spec) (*site, *bed.Release) {
	t.Helper()
	s := newSite(t, spec, inCluster)
	r := s.CreateRelease(t, newer)
	s.pinBackups(t)
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		_, err := n.Exec(t.Context(), "cp", backupIdentity, backupIdentity+".saved")
		must(t, err)
	}
	return s, r
}

// losesAndRestores takes a backup, loses the data of members, and follows the runbook.
func (s *site) losesAndRestores(t *testing.T, name string, members int, lose func(*testing.T, *cluster.Node), kept bool) {
	t.Helper()
	s.copyIdentity(t)
	s.backsUp(t, name)
	s.shareStore(t)
	s.isRecorded(t, s.First(cluster.RoleControlPlane), name)
	objects := s.names(t)
	_, err := s.Kubectl(t.Context(), nil, "create", "configmap", name+"-is-newer")
	must(t, err)
	containers := s.workloads(t)

	hosts := s.OfRole(cluster.RoleControlPlane)
	for _, n := range hosts[:members] {
		lose(t, n)
	}
	begun := time.Now()
	s.followRunbook(t, hosts)
	figure := "restore_" + strings.ReplaceAll(name, "-", "_")
	show(t, figure+"_api_serves", time.Since(begun).Seconds(), "s")
	must(t, s.WaitReady(t.Context(), recovery))
	show(t, figure+"_ready", time.Since(begun).Seconds(), "s")

	now := s.names(t)
	for _, object := range objects {
		if !slices.Contains(now, object) {
			t.Errorf("%s: %s of the backup is not there", name, object)
		}
	}
	replaced := members == 1 && len(hosts) > 1
	if slices.Contains(now, "configmap/"+name+"-is-newer") != replaced {
		t.Errorf("%s: an object that is newer than the backup is there: %t", name, !replaced)
	}
	must(t, until(t.Context(), "the shop to open", checkTimeout, s.shopOpen))
	_, err = s.Kubectl(t.Context(), nil, "wait", "--namespace=refit-system", "--for=condition=Available", "deployment", "--all", "--timeout=5m")
	must(t, err)
	if after := s.workloads(t); kept && after != containers {
		t.Errorf("%s: containers of workloads restarted:\n%s\nbefore:\n%s", name, after, containers)
	}
}

// isRecorded waits until a host has recorded a backup, so that it can be restored without the API.
func (s *site) isRecorded(t *testing.T, n *cluster.Node, name string) {
	t.Helper()
	must(t, until(t.Context(), n.Name()+" to record the backup", checkTimeout, func(ctx context.Context) error {
		said, err := n.Exec(ctx, "refit-agent", "restore", "--list")
		if err != nil {
			return err
		}
		return mentions(string(said), name)
	}))
}

// corruptEtcd overwrites the log of an etcd member, which then does not start.
func corruptEtcd(t *testing.T, n *cluster.Node) {
	t.Helper()
	_, err := n.Exec(t.Context(), "sh", "-c", `for f in /var/lib/etcd/member/wal/*.wal; do dd if=/dev/urandom of="$f" bs=1M count=4 conv=notrunc status=none; done; pkill -KILL -x etcd`)
	must(t, err)
}

// deleteEtcd deletes the data of an etcd member, which then starts without data. The kubelets of
// the empty cluster end its pods.
func deleteEtcd(t *testing.T, n *cluster.Node) {
	t.Helper()
	_, err := n.Exec(t.Context(), "sh", "-c", "rm -rf /var/lib/etcd/member && pkill -KILL -x etcd")
	must(t, err)
}

// loseEtcd deletes the data of one of several etcd members. A file in its place keeps etcd from
// starting: it would start with the identity of the lost member, and may get the data of the others
// before the runbook is followed.
func loseEtcd(t *testing.T, n *cluster.Node) {
	t.Helper()
	_, err := n.Exec(t.Context(), "sh", "-c", "rm -rf /var/lib/etcd/member && touch /var/lib/etcd/member && pkill -KILL -x etcd")
	must(t, err)
}

// shareStore copies the directory of the store to all control plane hosts, as a shared mount would.
func (s *site) shareStore(t *testing.T) {
	t.Helper()
	hosts := s.OfRole(cluster.RoleControlPlane)
	for _, from := range hosts {
		archive, err := from.Exec(t.Context(), "tar", "-C", backupDir, "-cf", "-", ".")
		must(t, err)
		for _, to := range hosts {
			_, err := to.ExecInput(t.Context(), strings.NewReader(string(archive)), "tar", "-C", backupDir, "-xf", "-")
			must(t, err)
		}
	}
}

// followRunbook runs the blocks of the runbook on the first host, and each printed command on the
// host that it is for.
func (s *site) followRunbook(t *testing.T, hosts []*cluster.Node) {
	t.Helper()
	text, err := os.ReadFile(restoreRunbook)
	must(t, err)
	parts := strings.Split(string(text), restoreMark)[1:]
	if len(parts) != 4 {
		t.Fatalf("the runbook has %d blocks, want 4", len(parts))
	}
	for i, part := range parts {
		block, _, _ := strings.Cut(part, "\n```\n")
		said := run(t, hosts[0], block)
		for i == 1 && strings.Contains(said, "\nNext, on ") {
			_, next, _ := strings.Cut(said, "\nNext, on ")
			name, command, _ := strings.Cut(next, ":\n")
			said = run(t, hosts[slices.IndexFunc(hosts, func(n *cluster.Node) bool { return n.Name() == name })], strings.TrimSpace(command))
		}
	}
}

// copyIdentity copies the identity to all control plane hosts, from which the runbook deletes it.
func (s *site) copyIdentity(t *testing.T) {
	t.Helper()
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		_, err := n.Exec(t.Context(), "cp", backupIdentity+".saved", backupIdentity)
		must(t, err)
	}
}

func run(t *testing.T, n *cluster.Node, block string) string {
	t.Helper()
	start := time.Now()
	out, err := n.Exec(t.Context(), "bash", "-eux", "-o", "pipefail", "-c", block)
	t.Logf("%s, %.1f s: %s\n%s", n.Name(), time.Since(start).Seconds(), block, out)
	must(t, err)
	return string(out)
}

// names returns the names of objects that must survive a restore.
func (s *site) names(t *testing.T) []string {
	t.Helper()
	out, err := s.Kubectl(t.Context(), nil, "get", "--all-namespaces", "--output=name",
		"namespaces,nodes,configmaps,secrets,services,deployments,statefulsets,daemonsets,clusterroles,roles,customresourcedefinitions,backupstores,clusterreleases")
	must(t, err)
	return strings.Fields(string(out))
}

// workloads returns the running containers of the shop, by node.
func (s *site) workloads(t *testing.T) string {
	t.Helper()
	pods, err := s.Client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var all []string
	for _, p := range pods.Items {
		for _, c := range p.Status.ContainerStatuses {
			all = append(all, p.Name+" "+c.ContainerID)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
