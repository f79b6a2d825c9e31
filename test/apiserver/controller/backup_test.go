//go:build apiserver

package controller

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	agentbackup "github.com/refit-dev/refit/internal/agent/backup"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// backups are a store in a directory, and agents that take real backups of the server's etcd.
type backups struct {
	*bed
	directory string
	identity  *age.X25519Identity
	slots     string
}

func newBackups(t *testing.T) *backups {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	b := &backups{bed: newBed(t), directory: t.TempDir(), identity: identity, slots: t.TempDir()}
	b.hosts.backsUp(b.take)
	return b
}

func (b *backups) createStore() {
	b.t.Helper()
	must(b.t, b.client.Create(b.t.Context(), &refitv1alpha1.BackupStore{
		ObjectMeta: metav1.ObjectMeta{Name: "local"},
		Spec: refitv1alpha1.BackupStoreSpec{
			Path: &refitv1alpha1.PathStore{Directory: b.directory}, Prefix: "prod", Recipients: []string{b.identity.Recipient().String()},
		},
	}))
}

func (b *backups) request(name string) {
	b.t.Helper()
	must(b.t, b.client.Create(b.t.Context(), &refitv1alpha1.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local", Drill: refitv1alpha1.DrillNone},
	}))
}

// take takes a backup as the agent does, with the administrator's kubeconfig.
func (b *backups) take(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
	var mu sync.Mutex
	var last refitv1alpha1.NodeBackupStatus
	manager := &agentbackup.Manager{
		Dir: b.slots + "/" + node, Machine: "m", Boot: "b", Log: slog.New(slog.DiscardHandler),
		Report: func(s *refitv1alpha1.NodeBackupStatus) {
			mu.Lock()
			defer mu.Unlock()
			last = *s
		},
		Environment: agentbackup.Environment{
			Objects: &agentbackup.Cluster{Kubeconfig: b.Kubeconfig(b.t, b.RESTConfig()), CredentialsDir: b.slots},
			Pins: func() (etcdbackup.Pins, error) {
				return etcdbackup.Pins{Recipients: []string{b.identity.Recipient().String()}, Locations: []string{b.directory}}, nil
			},
			Dial: func(context.Context) (agentbackup.Member, error) {
				return etcd.Dial(etcd.Config{Endpoints: []string{b.EtcdEndpoint()}})
			},
			OpenStore: store.Open, Space: func(string) (host.FreeSpace, error) { return host.FreeSpace{Bytes: 1 << 40}, nil },
			HostFiles: func(to io.Writer) error { _, err := io.WriteString(to, "pki"); return err },
		},
	}
	attempt, err := manager.Open(ref)
	if err != nil {
		b.t.Errorf("cannot open the attempt: %v", err)
		return last
	}
	manager.Run(ctx, attempt)
	manager.Wait()
	mu.Lock()
	defer mu.Unlock()
	return last
}

// untilBackup waits until an EtcdBackup meets a condition.
func (b *backups) untilBackup(name, what string, is func(*refitv1alpha1.EtcdBackup) bool) *refitv1alpha1.EtcdBackup {
	b.t.Helper()
	found := &refitv1alpha1.EtcdBackup{}
	b.wait(fmt.Sprintf("EtcdBackup %s %s", name, what), func() (bool, string) {
		if err := b.client.Get(b.t.Context(), types.NamespacedName{Name: name}, found); err != nil {
			return false, err.Error()
		}
		return is(found), fmt.Sprintf("%+v", found.Status)
	})
	return found
}

func isReady(b *refitv1alpha1.EtcdBackup) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, refitv1alpha1.ConditionReady)
}

func isStalled(b *refitv1alpha1.EtcdBackup) bool {
	return meta.IsStatusConditionTrue(b.Status.Conditions, refitv1alpha1.ConditionStalled)
}

// verify decrypts the stored backup.
func (b *backups) verify(done *refitv1alpha1.EtcdBackup) {
	b.t.Helper()
	opened, err := store.OpenPath(b.directory)
	must(b.t, err)
	expected := backup.Expected{ID: backup.ID{UID: string(done.UID), Attempt: int(done.Status.Attempt)}, ManifestDigest: done.Status.Digest}
	stored, err := enginebackup.Verify(b.t.Context(), enginebackup.Target{Store: opened, Prefix: "prod"}, expected, []age.Identity{b.identity})
	must(b.t, err)
	if key := backup.Key("prod", expected.ID, backup.ManifestName(stored.Digest)); done.Status.Object != key {
		b.t.Errorf("status.object is %s, want %s", done.Status.Object, key)
	}
}

func TestEtcdIsBackedUpOnAFollower(t *testing.T) {
	b := newBackups(t)
	b.controllers()
	b.createStore()
	b.request("nightly")
	done := b.untilBackup("nightly", "is ready", isReady)
	if done.Status.Node == "" || done.Status.Attempt != 1 || done.Status.Revision == 0 || done.Status.Keys == 0 || done.Status.Size == 0 || done.Status.Hash == "" {
		t.Errorf("got %+v", done.Status)
	}
	report := &refitv1alpha1.NodeReport{}
	must(t, b.client.Get(t.Context(), types.NamespacedName{Name: done.Status.Node}, report))
	if report.Status.Etcd == nil || report.Status.Etcd.Leader {
		t.Errorf("%s was chosen, whose etcd member leads", done.Status.Node)
	}
	b.verify(done)
}

func TestBackupWaitsForItsStore(t *testing.T) {
	b := newBackups(t)
	b.controllers()
	b.request("early")
	stalled := b.untilBackup("early", "is stalled", isStalled)
	if reason := meta.FindStatusCondition(stalled.Status.Conditions, refitv1alpha1.ConditionStalled).Reason; reason != etcdbackup.ReasonStoreMissing {
		t.Errorf("the reason is %s", reason)
	}
	b.createStore()
	b.verify(b.untilBackup("early", "is ready", isReady))
}

func TestFailedBackupIsTriedOnAnotherNode(t *testing.T) {
	b := newBackups(t)
	var mu sync.Mutex
	var nodes []string
	b.hosts.backsUp(func(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
		mu.Lock()
		nodes = append(nodes, node)
		first := len(nodes) == 1
		mu.Unlock()
		if !first {
			return b.take(ctx, node, ref)
		}
		return refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupFailed, Error: &refitv1alpha1.BackupError{
			Class: refitv1alpha1.FailureTransient, Reason: "DiskFull", Message: "no disk space", Remedy: "Free disk space", At: metav1.Now(),
		}}
	})
	b.controllers()
	b.createStore()
	b.request("nightly")
	done := b.untilBackup("nightly", "is ready", isReady)
	mu.Lock()
	defer mu.Unlock()
	if done.Status.Attempt != 2 || len(nodes) != 2 || nodes[0] == nodes[1] || done.Status.Error != nil {
		t.Errorf("attempts on %v: %+v", nodes, done.Status)
	}
	b.verify(done)
}

func TestLastFailedAttemptStallsTheBackup(t *testing.T) {
	b := newBackups(t)
	b.hosts.backsUp(func(_ context.Context, _ string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
		return refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupFailed, Error: &refitv1alpha1.BackupError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "StoreDenied", Message: "access denied", Remedy: "Check the credentials", At: metav1.Now(),
		}}
	})
	b.controllers()
	b.createStore()
	b.request("nightly")
	failed := b.untilBackup("nightly", "is stalled", isStalled)
	if failed.Status.Attempt != refitv1alpha1.MaxBackupAttempts || failed.Status.Error == nil || failed.Status.Error.Reason != "StoreDenied" || isReady(failed) {
		t.Errorf("got %+v", failed.Status)
	}
}

func TestEtcdIsBackedUpBesideAnUpgrade(t *testing.T) {
	b := newBackups(t)
	b.controllers()
	b.createStore()
	b.upgrade(op)
	b.request("during")
	done := b.untilBackup("during", "is ready", isReady)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
	b.verify(done)
	b.request("afterwards")
	b.verify(b.untilBackup("afterwards", "is ready", isReady))
}

func TestDeletedBackupIsWithdrawn(t *testing.T) {
	b := newBackups(t)
	taken := make(chan string, 1)
	b.hosts.backsUp(func(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
		taken <- node
		<-ctx.Done()
		return refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupRunning}
	})
	b.controllers()
	b.createStore()
	b.request("nightly")
	node := <-taken
	must(t, b.client.Delete(t.Context(), &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}))
	b.wait("the order of "+node+" is withdrawn", func() (bool, string) {
		order := &refitv1alpha1.NodeUpgrade{}
		err := b.client.Get(t.Context(), types.NamespacedName{Name: node}, order)
		return err == nil && order.Spec.Permit == refitv1alpha1.PermitHold, fmt.Sprintf("%v: %s", err, order.Spec.Permit)
	})
}
