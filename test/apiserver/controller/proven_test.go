//go:build apiserver

package controller

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

// proven is a bed whose operation relies on backups, each of which ends as the test decides.
type proven struct {
	*backups
	mu    sync.Mutex
	taken []string // the EtcdBackups that agents took
	ends  func(ctx context.Context, result *refitv1alpha1.NodeBackupStatus)
}

func newProven(t *testing.T, ends func(context.Context, *refitv1alpha1.NodeBackupStatus)) *proven {
	t.Helper()
	p := &proven{backups: newBackups(t), ends: ends}
	p.hosts.backsUp(p.take)
	return p
}

func (p *proven) take(ctx context.Context, _ string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
	result := agents.Backup(ctx, p.client, ref)
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := p.client.Get(ctx, types.NamespacedName{Name: op}, operation); err != nil || len(operation.Status.Active) > 0 {
		p.t.Errorf("%v are active before the backup is proven, %v", operation.Status.Active, err)
	}
	p.mu.Lock()
	p.taken = append(p.taken, ref.Name)
	p.mu.Unlock()
	if p.ends != nil {
		p.ends(ctx, &result)
	}
	return result
}

func (p *proven) all() []refitv1alpha1.EtcdBackup {
	p.t.Helper()
	var list refitv1alpha1.EtcdBackupList
	must(p.t, p.client.List(p.t.Context(), &list))
	return list.Items
}

func reliesOnBackup(u *refitv1alpha1.ClusterUpgrade) {
	u.Spec.Backup, u.Spec.Waivers = &refitv1alpha1.UpgradeBackup{}, nil
}

// selects is an operation that has selected its first control plane node. What follows is not about
// backups.
func selects(u *refitv1alpha1.ClusterUpgrade) bool { return len(u.Status.Active) > 0 }

// TestUpgradeReliesOnABackup starts without the BackupStore, which blocks the upgrade. The first
// rehearsal has a finding, which stalls it until a retry. Only after the second one the control
// plane changes.
func TestUpgradeReliesOnABackup(t *testing.T) {
	var fixed atomic.Bool
	p := newProven(t, func(_ context.Context, result *refitv1alpha1.NodeBackupStatus) {
		if !fixed.Load() {
			result.Rehearsed[0].Findings = []refitv1alpha1.RehearsalFinding{{
				Reason: "FlagUnknown", Object: "--feature-gates", Message: "the API server does not know the flag", Remedy: "Remove the flag",
			}}
		}
	})
	p.controllers()
	p.upgrade(op, reliesOnBackup)
	blocked := p.until(op, "is blocked", phase(refitv1alpha1.PhaseStalled))
	if waits := blocked.Status.Waiting; len(waits) == 0 || waits[0].Reason != refitv1alpha1.ReasonBlocked {
		t.Errorf("without the store it waits for %+v", waits)
	}
	p.createStore()
	failed := func(w refitv1alpha1.WaitingFor) bool { return w.Reason == refitv1alpha1.ReasonRehearsalFailed }
	stalled := p.until(op, "reports the finding", func(u *refitv1alpha1.ClusterUpgrade) bool {
		return u.Status.Phase == refitv1alpha1.PhaseStalled && slices.ContainsFunc(u.Status.Waiting, failed)
	})
	finding := stalled.Status.Waiting[slices.IndexFunc(stalled.Status.Waiting, failed)]
	if finding.Remedy == "" || !finding.ActionRequired || len(stalled.Status.Active) > 0 {
		t.Errorf("it waits for %+v", finding)
	}
	fixed.Store(true)
	p.says(`{"retry":1}`)
	selected := p.until(op, "selects a control plane node", selects)
	for _, s := range selected.Status.Plan.Stages {
		if (s.Name == refitv1alpha1.StageBackup || s.Name == refitv1alpha1.StageRehearsal) && (s.Total != 1 || s.Done != 1) {
			t.Errorf("stage %s: %d of %d", s.Name, s.Done, s.Total)
		}
	}
	all := p.all()
	if len(all) != 2 || len(p.taken) != 2 || all[0].Spec.Operation != op || all[0].Spec.Drill != refitv1alpha1.DrillRehearse || len(all[0].Spec.Hops) != 1 ||
		all[0].Labels[refitv1alpha1.LabelOperation] != string(selected.UID) {
		t.Errorf("%v were taken: %+v", p.taken, all)
	}
}

// TestAbortCancelsTheBackup deletes the first EtcdBackup, which another one replaces, and aborts
// during that one.
func TestAbortCancelsTheBackup(t *testing.T) {
	started := make(chan string, 4)
	p := newProven(t, func(ctx context.Context, result *refitv1alpha1.NodeBackupStatus) {
		started <- string(result.UID)
		<-ctx.Done() // none of them ends
	})
	p.createStore()
	p.controllers()
	p.upgrade(op, reliesOnBackup)
	next := func() (uid string) {
		p.wait("a backup", func() (bool, string) {
			select {
			case uid = <-started:
				return true, ""
			default:
				return false, "not started"
			}
		})
		return uid
	}
	deleted := next()
	for _, b := range p.all() {
		must(t, p.client.Delete(t.Context(), &b))
	}
	if again := next(); again == deleted {
		t.Errorf("%s is taken again", again)
	}
	p.says(`{"aborted":true}`)
	p.until(op, "is aborted", phase(refitv1alpha1.PhaseAborted))
	p.wait("no order to back up", func() (bool, string) {
		var all refitv1alpha1.NodeUpgradeList
		must(t, p.client.List(t.Context(), &all))
		for i := range all.Items {
			if all.Items[i].Spec.Permit == refitv1alpha1.PermitBackup {
				return false, all.Items[i].Name
			}
		}
		return len(p.all()) == 0, "the EtcdBackup exists"
	})
}
