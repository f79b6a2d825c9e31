package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func backupOrder(sequence int64) *refitv1alpha1.NodeUpgrade {
	order := goodOrder("sha256:aa")
	order.Spec.Format, order.Spec.Sequence, order.Spec.Permit = 2, sequence, refitv1alpha1.PermitBackup
	order.Spec.Backup = refitv1alpha1.BackupRef{Name: "nightly", UID: "0a1b2c3d-0000-4000-8000-00000000000a", Attempt: 1, Store: "local"}
	return order
}

func TestBackupLeavesTheUpgradeAsItIs(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	withUpgrade(t, a, refitv1alpha1.NodeSucceeded)
	if err := a.accept(t.Context(), backupOrder(8)); err != nil {
		t.Fatal(err)
	}
	a.backups.Wait()
	state := node.Read(a.upgrade.journal.Records())
	if state.Outcome != refitv1alpha1.NodeSucceeded || a.state.Last != "upgrade-1" || a.state.Sequence != 8 {
		t.Errorf("outcome %s, last %s, sequence %d", state.Outcome, a.state.Last, a.state.Sequence)
	}
	if _, err := os.Stat(filepath.Join(a.Settings.UpgradesDir(), "upgrade-1", "saved", "index.json")); err != nil {
		t.Errorf("the rollback files are gone: %v", err)
	}
	// The test host runs no etcd, so the backup itself fails, and only the backup.
	status, _, _ := a.status.compose()
	if status.Backup == nil || status.Backup.Phase != refitv1alpha1.BackupFailed || status.Backup.Error.Reason != "EtcdMissing" || status.Backup.Attempt != 1 {
		t.Errorf("the backup is %+v", status.Backup)
	}
	if accepted, _, _ := a.status.compose(); accepted.ObservedSequence != 8 && a.status.refusal != nil {
		t.Errorf("the order was refused: %v", a.status.refusal)
	}
}

func TestBackupIsTheFirstOrderOfANode(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	order := backupOrder(8)
	order.Spec.Operation, order.Spec.Release = refitv1alpha1.Operation{}, refitv1alpha1.ReleaseRef{}
	if err := a.accept(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	a.backups.Wait()
	status, _, _ := a.status.compose()
	if status.ObservedSequence != 8 || status.Phase != refitv1alpha1.NodeIdle || status.Backup == nil || a.upgrade != nil {
		t.Errorf("the status is %+v", status)
	}
}

// configured is the API of a cluster with this kubeadm configuration of etcd.
type configured struct {
	*apiStub

	etcd string
}

func (c configured) KubeadmConfig(context.Context) (map[string]string, error) {
	if c.etcd == "" {
		return nil, errors.New("unreachable")
	}
	return map[string]string{"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\netcd: " + c.etcd + "\n"}, nil
}

// noBackups is a cluster without EtcdBackups.
type noBackups struct{ backup.Objects }

func (noBackups) EtcdBackup(context.Context, string) (*refitv1alpha1.EtcdBackup, error) {
	return nil, errors.New("not found")
}

func TestWhichEtcdIsBackedUp(t *testing.T) {
	const loopback, remote = "http://127.0.0.1:2379", "http://10.0.0.1:2379"
	for situation, tt := range map[string]struct {
		config, endpoint string
		refused          string // why; empty: it is tried
	}{
		"an external etcd":                         {"{external: {endpoints: [" + remote + "]}}", remote, ""},
		"an external etcd on loopback":             {"{external: {endpoints: [" + loopback + "]}}", loopback, ""},
		"an external etcd of an unknown cluster":   {"", remote, ""},
		"a stacked etcd whose manifest is lost":    {"{local: {dataDir: /var/lib/etcd}}", loopback, "EtcdMissing"},
		"a lost manifest and no answer of the API": {"", loopback, "EtcdUnknown"},
		"a stacked etcd that another host runs":    {"{local: {dataDir: /var/lib/etcd}}", remote, "EtcdMissing"},
	} {
		t.Run(situation, func(t *testing.T) {
			was := steps.ManifestsDir
			steps.ManifestsDir = t.TempDir()
			t.Cleanup(func() { steps.ManifestsDir = was })
			must(t, os.WriteFile(manifest(kubeadm.APIServer), []byte(`apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec:
  containers:
  - {name: kube-apiserver, command: [kube-apiserver, --etcd-servers=`+tt.endpoint+`]}
`), 0o600))
			a := newTestAgent(t, configured{&apiStub{}, tt.config})
			a.backups.Environment.Objects = noBackups{}
			must(t, a.accept(t.Context(), backupOrder(8)))
			a.backups.Wait()
			status, _, _ := a.status.compose()
			if status.Backup == nil || status.Backup.Error == nil {
				t.Fatalf("the backup is %+v", status.Backup)
			}
			refused := ""
			if reason := status.Backup.Error.Reason; strings.HasPrefix(reason, "Etcd") {
				refused = reason
			}
			if refused != tt.refused {
				t.Errorf("it is refused as %q: %+v", refused, status.Backup.Error)
			}
		})
	}
}

// unreachable is a cluster that never answers.
type unreachable struct {
	backup.Objects

	called  chan struct{} // closed when the backup waits for an answer
	stopped func()        // called when the backup is stopped
}

func (u unreachable) EtcdBackup(ctx context.Context, _ string) (*refitv1alpha1.EtcdBackup, error) {
	close(u.called)
	<-ctx.Done()
	u.stopped()
	return nil, ctx.Err()
}

// waitingFor returns what the agent reports that it waits for.
func (a *Agent) waitingFor() string {
	a.status.mu.Lock()
	defer a.status.mu.Unlock()
	return a.status.waiting
}

func TestAnotherOrderStopsTheBackup(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	waited, called := "", make(chan struct{})
	a.backups.Environment.Objects = unreachable{called: called, stopped: func() { waited = a.waitingFor() }}
	attempt, err := a.openBackup(&backupOrder(8).Spec)
	if err != nil {
		t.Fatal(err)
	}
	a.backups.Run(t.Context(), attempt)
	<-called // an order before would stop the attempt without a request
	hold := backupOrder(9)
	hold.Spec.Format, hold.Spec.Permit, hold.Spec.Backup = 1, refitv1alpha1.PermitHold, refitv1alpha1.BackupRef{}
	if err := a.accept(t.Context(), hold); err != nil {
		t.Fatal(err)
	}
	status, _, _ := a.status.compose()
	if status.Backup == nil || status.Backup.Phase != refitv1alpha1.BackupFailed || status.Backup.Error.Reason != "BackupStopped" {
		t.Errorf("the backup is %+v", status.Backup)
	}
	if now := a.waitingFor(); waited != "stopping a backup" || now != "" {
		t.Errorf("the agent reported %q, and reports %q", waited, now)
	}
}
