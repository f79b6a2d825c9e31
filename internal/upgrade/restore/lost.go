package restore

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Lost describes what a restore of a backup discards, as far as the host knows.
func Lost(o Observation) []string {
	var lost []string
	age := o.Now.Sub(o.Backup.Time)
	lost = append(lost, fmt.Sprintf("every change of the last %s: objects that were created since are gone, and deleted ones are back", phrase.Duration(age)))
	if newer := o.Host.Revision - o.Backup.Revision; bumped(o.Host.Revision) && !bumped(o.Backup.Revision) {
		lost = append(lost, "everything since an earlier restore of etcd, which was after the backup")
	} else if o.Host.Revision > 0 && newer > 0 {
		lost = append(lost, fmt.Sprintf("at least %d revisions of etcd: this host knows revision %d", newer, o.Host.Revision))
	}
	if o.Etcd.empty(o.Backup) {
		lost = append(lost, "everything in the empty cluster that etcd has started since its data was deleted")
	}
	if o.Host.Upgraded != "" && o.Host.UpgradedAt.After(o.Backup.Time) {
		lost = append(lost, fmt.Sprintf("the record of the upgrade of this host to %s: the host keeps that version, and its agent refuses the orders of before",
			o.Host.Upgraded))
	}
	return lost
}
