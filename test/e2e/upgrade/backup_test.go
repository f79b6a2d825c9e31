//go:build e2e

package upgrade

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	backupDir      = "/srv/backups"
	backupIdentity = "/root/refit-backup.key"
	// plantedSecret is in a Secret of the cluster.
	plantedSecret = "a-secret-that-nobody-may-read-in-a-bucket"
)

// TestBackupOfACluster backs up etcd before and after an upgrade, as docs/backup.md describes it.
func TestBackupOfACluster(t *testing.T) {
	s := newSite(t, cluster.Spec{Name: "upbackup", ControlPlanes: 3, Workers: 1, Kubernetes: older}, inCluster)
	r := s.CreateRelease(t, newer)
	_, err := s.Kubectl(t.Context(), nil, "create", "secret", "generic", "planted", "--from-literal=key="+plantedSecret)
	must(t, err)
	s.pinBackups(t)

	s.backsUp(t, "before")
	s.Upgrade(t, newer, waiveBare...).Wait(t, whole, exitDone)
	s.isAt(t, r)
	s.backsUp(t, "after")
}

// pinBackups creates a key, the directory of the store and its pins on every control plane host,
// and the BackupStore.
func (s *site) pinBackups(t *testing.T) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	recipient := identity.Recipient().String()
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		_, err := n.Exec(t.Context(), "mkdir", "-p", backupDir, "/etc/refit/backup")
		must(t, err)
		pins := fmt.Sprintf("recipients: [%s]\nlocations: [%s]\n", recipient, backupDir)
		_, err = n.ExecInput(t.Context(), strings.NewReader(pins), "tee", "/etc/refit/backup/stores.yaml")
		must(t, err)
		_, err = n.ExecInput(t.Context(), strings.NewReader(identity.String()+"\n"), "tee", backupIdentity)
		must(t, err)
	}
	manifest := fmt.Sprintf(`{apiVersion: refit.dev/v1alpha1, kind: BackupStore, metadata: {name: local},
spec: {path: {directory: %s}, prefix: upbackup, recipients: [%s], keep: {last: 3}}}`, backupDir, recipient)
	_, err = s.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
}

// backsUp takes a backup, and verifies it on the host that stored it.
func (s *site) backsUp(t *testing.T, name string) {
	t.Helper()
	s.backUpAs(t, name, "None")
	s.isStored(t, name)
}

// backUpAs takes a backup with a drill.
func (s *site) backUpAs(t *testing.T, name, drill string) {
	t.Helper()
	manifest := fmt.Sprintf("{apiVersion: refit.dev/v1alpha1, kind: EtcdBackup, metadata: {name: %s}, spec: {store: local, drill: %s}}", name, drill)
	_, err := s.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
	if _, err := s.Kubectl(t.Context(), nil, "wait", "--for=condition=Ready", "etcdbackup/"+name, "--timeout=30m"); err != nil {
		state, _ := s.Kubectl(t.Context(), nil, "get", "etcdbackup,nodeupgrade", "--output=yaml")
		t.Fatalf("%v\n%s", err, state)
	}
}

// isStored verifies a backup on the host that stored it.
func (s *site) isStored(t *testing.T, name string) {
	t.Helper()
	node, err := s.Kubectl(t.Context(), nil, "get", "etcdbackup", name, "--output=jsonpath={.status.node}")
	must(t, err)
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		if n.Name() != string(bytes.TrimSpace(node)) {
			continue
		}
		said, err := n.Exec(t.Context(), "refit-agent", "backup", "verify", name, "--identity", backupIdentity)
		must(t, err)
		t.Logf("%s on %s: %s", name, n.Name(), said)
		if _, err := n.Exec(t.Context(), "grep", "--recursive", "--quiet", "--fixed-strings", plantedSecret, backupDir); err == nil {
			t.Error("the store contains plain text")
		}
		return
	}
	t.Fatalf("no control plane node is %q", node)
}
