package preflight

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// waiveBackup is the last part of every remedy for a backup that cannot be proven.
const waiveBackup = "To upgrade without a proven backup, waive it: `--waive 'BackupProven=REASON'`"

// backupProven reports that no backup can be proven before the control plane changes, or that the
// user waives it.
func backupProven(v *view) []Finding {
	if !v.changesControlPlane() {
		return nil
	}
	switch {
	case policy.WaivedAnywhere(&v.Spec, policy.CheckBackup):
		return []Finding{{
			Message: "the control plane changes without a backup of etcd that was tried",
			Remedy:  "Make sure that you can restore etcd by other means, or remove the waiver.",
		}}
	case !v.agentsBackUp():
		return []Finding{{
			Message: fmt.Sprintf("no agent of a control plane node supports order format %d, which a backup needs", orders.BackupFormat),
			Remedy:  "Upgrade the agents to the version of the controller: " + command("refit install") + ". " + waiveBackup,
		}}
	}
	return nil
}

// agentsBackUp reports whether an agent of a control plane node supports backups, or none has
// reported yet.
func (v *view) agentsBackUp() bool {
	reported := false
	for _, n := range v.s.ControlPlane() {
		if n.Report != nil && n.Report.OrderFormat >= orders.BackupFormat {
			return true
		}
		reported = reported || n.Report != nil
	}
	return !reported
}

// requiredBackup returns the backup that the control plane changes rely on, nil if there is none.
func (v *view) requiredBackup() *refitv1alpha1.UpgradeBackup {
	if !v.changesControlPlane() {
		return nil
	}
	return policy.BackupRequired(&v.Spec)
}

// changesControlPlane reports whether a control plane node is still to be upgraded.
func (v *view) changesControlPlane() bool {
	return slices.ContainsFunc(v.nodes, func(n node) bool { return n.ControlPlane && n.touched })
}

func backupStoreMissing(v *view) []Finding {
	backup := v.requiredBackup()
	if backup == nil || v.s.BackupStore(backup.Store) != nil {
		return nil
	}
	return []Finding{{
		Object: storeObject(backup), Deferred: !v.s.Installed,
		Message: fmt.Sprintf("BackupStore %s does not exist, so etcd cannot be backed up before the control plane changes", backup.Store),
		Remedy: fmt.Sprintf("Create it, or name another one in spec.backup.store; %s creates the store %q. %s",
			command("refit install"), policy.DefaultStore, waiveBackup),
	}}
}

func backupOnSameHost(v *view) []Finding {
	backup := v.requiredBackup()
	if backup == nil || len(v.s.ControlPlane()) != 1 {
		return nil
	}
	store := v.s.BackupStore(backup.Store)
	if store == nil || store.Directory == "" {
		return nil
	}
	return []Finding{{
		Object: storeObject(backup),
		Message: fmt.Sprintf("BackupStore %s is a directory of the only control plane host: unless %s is on other storage, both are lost with it",
			store.Name, store.Directory),
		Remedy: "Mount other storage there, or use a BackupStore in a bucket.",
	}}
}

func backupIdentityUnproven(v *view) []Finding {
	backup := v.requiredBackup()
	if backup == nil {
		return nil
	}
	store := v.s.BackupStore(backup.Store)
	if store == nil || store.IdentityProven != cluster.No {
		return nil
	}
	remedy := "Prove it once with a backup: " + command("refit backup verify NAME --identity FILE") + "."
	if store.Directory != "" {
		remedy = "Prove it once with a backup, on the host that has it: " + command("refit-agent backup verify NAME --identity FILE") + "."
	}
	return []Finding{{
		Object:  storeObject(backup),
		Message: fmt.Sprintf("no identity of the recipients of BackupStore %s has decrypted a backup: if it is lost, nobody can restore etcd", store.Name),
		Remedy:  remedy,
	}}
}

func storeObject(backup *refitv1alpha1.UpgradeBackup) string { return "BackupStore " + backup.Store }

// rehearsalUnknown reports what the rehearsals of the operation could not decide. The operation
// does not change the control plane until that is waived.
func rehearsalUnknown(v *view) []Finding {
	if required := v.requiredBackup(); required == nil || required.Drill != refitv1alpha1.DrillRehearse {
		return nil
	}
	newest := map[string]*cluster.Backup{}
	for i := range v.s.Backups {
		b := &v.s.Backups[i]
		if known := newest[b.Hop]; !b.Deleting && (known == nil || b.Number > known.Number) {
			newest[b.Hop] = b
		}
	}
	var found []Finding
	for i := range v.s.Backups {
		b := &v.s.Backups[i]
		if newest[b.Hop] != b {
			continue
		}
		for _, hop := range b.Status.Rehearsed {
			found = append(found, openQuestions(&hop)...)
		}
	}
	return found
}

func openQuestions(hop *refitv1alpha1.RehearsedHop) []Finding {
	var found []Finding
	for _, f := range hop.Findings {
		if f.Unknown {
			found = append(found, Finding{
				Object: f.Object, Unknown: true,
				Message: fmt.Sprintf("the rehearsal of %s could not decide: %s", hop.Kubernetes, f.Message),
				Remedy:  f.Remedy + ". If the question may stay open, waive RehearsalUnknown for it.",
			})
		}
	}
	return found
}
