//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	restoreRunbook = "../../../docs/runbooks/restore.md"
	// restoreMark precedes each block of the runbook that is run.
	restoreMark = "<!-- run by TestBackupRestore -->\n```\n"
)

// TestBackupRestoreSingle deletes the data of the only etcd member and follows
// docs/runbooks/restore.md.
func TestBackupRestoreSingle(t *testing.T) {
	testRestore(t, cluster.Spec{Name: "restore1", ControlPlanes: 1, Workers: 1, Kubernetes: older}, 1)
}

// TestBackupRestoreAll deletes the data of all three members.
func TestBackupRestoreAll(t *testing.T) {
	testRestore(t, cluster.Spec{Name: "restore3", ControlPlanes: 3, Workers: 1, Kubernetes: older}, 3)
}

func testRestore(t *testing.T, spec cluster.Spec, lose int) {
	t.Helper()
	s := newSite(t, spec, inCluster)
	r := s.CreateRelease(t, newer)
	s.pinBackups(t)
	s.backsUp(t, "before")
	s.shareStore(t)
	objects := s.names(t)
	_, err := s.Kubectl(t.Context(), nil, "create", "configmap", "newer-than-the-backup")
	must(t, err)
	containers := s.workloads(t)

	hosts := s.OfRole(cluster.RoleControlPlane)
	for _, n := range hosts[:lose] {
		loseEtcd(t, n)
	}
	must(t, until(t.Context(), "the API to end", checkTimeout, func(ctx context.Context) error {
		if _, err := s.Kubectl(ctx, nil, "get", "--raw=/readyz", "--request-timeout=2s"); err == nil {
			return errors.New("it still serves")
		}
		return nil
	}))

	begun := time.Now()
	s.followRunbook(t, hosts)
	show(t, fmt.Sprintf("restore_of_%d_api_serves", lose), time.Since(begun).Seconds(), "s")
	must(t, s.WaitReady(t.Context(), recovery))
	show(t, fmt.Sprintf("restore_of_%d_cluster_ready", lose), time.Since(begun).Seconds(), "s")

	now := s.names(t)
	for _, name := range objects {
		if !slices.Contains(now, name) {
			t.Errorf("%s of the backup is not there", name)
		}
	}
	if slices.Contains(now, "configmap/newer-than-the-backup") {
		t.Error("an object that is newer than the backup is there")
	}
	must(t, until(t.Context(), "the shop to open", checkTimeout, s.shopOpen))
	if after := s.workloads(t); after != containers {
		t.Errorf("containers of workloads restarted:\n%s\nbefore:\n%s", after, containers)
	}
	s.upgrade(t, newer, waiveBare...).wait(t, whole, exitDone)
	s.isAt(t, r)
}

// loseEtcd deletes the data of an etcd member, and kills it.
func loseEtcd(t *testing.T, n *cluster.Node) {
	t.Helper()
	_, err := n.Exec(t.Context(), "sh", "-c", "rm -rf /var/lib/etcd/member && pkill -KILL -x etcd")
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
