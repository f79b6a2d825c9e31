//go:build apiserver

package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	agentbackup "github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

func backupBed(t *testing.T) *bed {
	t.Helper()
	b := newBed(t)
	for _, kind := range []client.Object{&refitv1alpha1.EtcdBackup{}, &refitv1alpha1.BackupStore{}} {
		b.deleteAll(t, kind)
	}
	must(t, b.Create(t.Context(), etcdbackup.NewLocalStore([]string{recipient})))
	return b
}

// only returns the only backup, once it exists.
func (b *bed) only(t *testing.T) *refitv1alpha1.EtcdBackup {
	t.Helper()
	for end := time.Now().Add(checkTimeout); ; time.Sleep(20 * time.Millisecond) {
		var list refitv1alpha1.EtcdBackupList
		must(t, b.List(t.Context(), &list))
		if len(list.Items) == 1 {
			return &list.Items[0]
		}
		if time.Now().After(end) {
			t.Fatalf("there are %d backups", len(list.Items))
		}
	}
}

// A backup goes through the steps of its agent, which the command follows.
func TestBackupIsCreatedAndFollowed(t *testing.T) {
	b := backupBed(t)
	creating := b.start(t, "backup", "create", "--drill", "none")
	creating.until(t, "Waiting for the controller")
	backup := b.only(t)
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	backup.Status.Node, backup.Status.Attempt, backup.Status.StartTime = "cp-2", 1, &now
	backup.Status.Conditions = []metav1.Condition{{
		Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Progressing", Message: "Attempt 1 on cp-2, step snapshot", LastTransitionTime: now,
	}}
	must(t, b.Status().Update(t.Context(), backup))
	creating.until(t, "Attempt 1 on cp-2, step snapshot")
	backup.Status.StartTime, backup.Status.Uploaded, backup.Status.ReadBack = nil, &now, &now
	backup.Status.Revision, backup.Status.Digest = 4711, "sha256:"+strings.Repeat("ab", 32)
	must(t, b.Status().Update(t.Context(), backup))
	creating.wait(t).want(t, 0, "Stored, and read back from the store")

	b.refit(t, "backup", "list").want(t, 0, backup.Name, "succeeded", "cp-2", "4,711")
	b.refit(t, "backup", "show", backup.Name).want(t, 0, "sha256:abab", "none: this backup was never restored")

	// A host has deleted it.
	host := agentbackup.Cluster{Kubeconfig: b.kubeconfig}
	must(t, host.MarkDeleted(t.Context(), backup.Name, etcdbackup.ID(backup), time.Now()))
	must(t, host.MarkDeleted(t.Context(), backup.Name, etcdbackup.ID(backup), time.Now())) // again
	b.refit(t, "backup", "list").want(t, 0, backup.Name, "deleted", "4,711")
	b.refit(t, "backup", "show", backup.Name).want(t, 0, "sha256:abab", "by retention")
}

// Ctrl-C leaves the backup.
func TestAnInterruptedCommandLeavesTheBackup(t *testing.T) {
	b := backupBed(t)
	creating := b.start(t, "backup", "create", "-o", "json")
	creating.until(t, `"state":"Pending"`)
	must(t, creating.Process.Signal(os.Interrupt))
	creating.wait(t).want(t, 130, "continues in the cluster. To see its result: refit backup show")
	b.only(t)
}

func TestBackupErrors(t *testing.T) {
	b := backupBed(t)
	b.refit(t, "backup", "create", "--store", "other").want(t, 1, "there is no BackupStore other")
	b.refit(t, "backup", "show", "other").want(t, 1, "there is no EtcdBackup other")
	b.refit(t, "backup", "list").want(t, 0, "Take one with `refit backup create`")
}
