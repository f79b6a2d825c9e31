package text

import (
	"fmt"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// BackupVerification renders what is proven about a stored backup, and what is not.
func BackupVerification(v *cliv1alpha1.BackupVerification, p Page) string {
	w := newWriter(p)
	w.para(0, as(bold, "Backup "+v.Backup), as(plain, "of etcd in "+v.Cluster+":"), as(green, "verified"))
	w.blank()
	w.backupField("Store", v.Store+": "+v.Location)
	w.backupField("Object", v.Object)
	w.backupField("Digest", v.Digest+", which the EtcdBackup records")
	w.backupField("Taken", fmt.Sprintf("%s, etcd %s, revision %s", moment(v.Time), v.EtcdVersion, phrase.Number(int(v.Revision))))
	for _, part := range v.Parts {
		line := part.Name + ": " + size(part.Stored) + " read, every byte is as recorded"
		if v.Decrypted {
			line += "; decrypted, " + size(part.Plain)
		}
		w.backupField("Part", line)
	}
	for _, recipient := range v.Recipients {
		w.backupField("Identity", "that of "+recipient+" decrypts every part")
	}
	if v.IdentityProven {
		w.backupField("Recorded", "IdentityProven in the status of BackupStore "+v.Store)
	}
	if !v.Deleted.IsZero() {
		w.backupField("Marked", "as deleted on "+moment(v.Deleted)+": the next run of retention may delete its objects")
	}
	w.unproven(v)
	return w.String()
}

func (w *writer) unproven(v *cliv1alpha1.BackupVerification) {
	if v.IdentityProven && v.Drilled {
		return
	}
	w.section("Not proven")
	if !v.Decrypted {
		w.para(2, as(plain, "That you can decrypt the backup: use --identity FILE."))
	}
	if v.NotRecorded != "" {
		w.para(2, as(plain, "That you can decrypt the next backup: "+v.NotRecorded+"."))
	}
	if !v.Drilled {
		w.para(2, as(plain, "That etcd starts with it: it was not restored in a drill."))
	}
}

// Transfer is how far a transfer has come, and how long it takes at this rate.
func Transfer(done, total int64, elapsed time.Duration) string {
	out := size(done) + " of " + size(total)
	if done <= 0 || done >= total {
		return out
	}
	left := time.Duration(float64(elapsed) / float64(done) * float64(total-done))
	return out + ", " + phrase.Duration(left) + " left"
}
