package policy

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// BackupRequired returns the backup that each hop of the control plane relies on, nil if the
// operation needs none. spec must have its defaults.
func BackupRequired(spec *refitv1alpha1.ClusterUpgradeSpec) *refitv1alpha1.UpgradeBackup {
	if spec.Scope == refitv1alpha1.ScopeWorkers || WaivedAnywhere(spec, CheckBackup) {
		return nil
	}
	return spec.Backup
}

// BlockingFindings returns the findings of a rehearsed hop that are not waived, and how many
// further ones are not listed and not waived. A known problem cannot be waived: the version does
// not run in this cluster. Open questions that are not listed are waived only with all others.
func BlockingFindings(spec *refitv1alpha1.ClusterUpgradeSpec, hop *refitv1alpha1.RehearsedHop) (listed []refitv1alpha1.RehearsalFinding, more int64) {
	all := Waived(spec, CheckRehearsal, "")
	listed = slices.DeleteFunc(slices.Clone(hop.Findings), func(f refitv1alpha1.RehearsalFinding) bool {
		return f.Unknown && (all || f.Object != "" && Waived(spec, CheckRehearsal, f.Object))
	})
	if all {
		return listed, max(0, hop.MoreFindings-hop.MoreUnknown)
	}
	return listed, hop.MoreFindings
}
