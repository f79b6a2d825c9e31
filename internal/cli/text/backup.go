package text

import (
	"fmt"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Backup renders everything about a backup.
func Backup(b *cliv1alpha1.Backup, p Page) string {
	w := newWriter(p)
	w.backup(b, p.Now)
	w.rehearsal(b)
	return w.String()
}

// BackupEnd renders what the progress of a backup lacks: the results of the hops that were
// rehearsed, and the next steps. It is empty if there are none.
func BackupEnd(b *cliv1alpha1.Backup, p Page) string {
	w := newWriter(p)
	w.rehearsal(b)
	w.backupNext(b)
	return w.String()
}

// backupNext writes how to prove that a stored backup can be decrypted, and how to restore it.
func (w *writer) backupNext(b *cliv1alpha1.Backup) {
	if len(b.NextSteps) == 0 {
		return
	}
	w.section("Next steps")
	w.para(2, as(plain, "Keep the digest outside the cluster: it proves the origin of the backup if the cluster and its hosts are lost."))
	for i := range b.NextSteps {
		step, on := &b.NextSteps[i], ""
		if step.Node != "" {
			on = ", on " + step.Node + " as root"
		}
		switch step.Purpose {
		case cliv1alpha1.StepProveIdentity:
			w.para(2, as(plain, "Prove once that you can decrypt the backups, which are encrypted to "+phrase.List(b.Recipients)+
				". `refit install` creates the identity as "+etcdbackup.IdentityFile+" beside the release key, on the machine where you run it."+
				" Pass that file"+on+":"))
		case cliv1alpha1.StepRestore:
			w.para(2, as(plain, "Show how to restore the backup"+on+":"))
		}
		w.command(step.Command)
	}
}

// backupHang is the width of the first column.
const backupHang = 12

func (w *writer) backup(b *cliv1alpha1.Backup, now time.Time) {
	w.para(0, as(bold, "Backup "+b.Name), as(plain, "of etcd in "+b.Cluster+":"), as(backupStyle(b.State), backupWord(&b.BackupState)))
	w.blank()
	w.backupProgress(b, now)
	w.backupField("Store", b.Store)
	w.backupField("Object", b.Object)
	w.backupField("Node", nodeAndAttempt(&b.BackupState))
	w.backupField("Created", moment(b.CreationTime))
	if b.Revision > 0 {
		w.backupField("etcd", fmt.Sprintf("revision %s, %s, %s, hash %s",
			phrase.Number(int(b.Revision)), phrase.Count(int(b.Keys), "key"), size(b.Size), b.Hash))
	}
	w.backupField("Digest", b.Digest)
	if !b.Verified.IsZero() {
		w.backupField("Verified", moment(b.Verified)+", every object was read back from the store")
	}
	if !b.Deleted.IsZero() {
		w.backupField("Deleted", moment(b.Deleted)+
			", by retention: the store does not have it any more. Choose another one for a restore (`refit backup list`)")
	}
	w.backupField("Identity", identityLine(b.Identity))
	w.backupField("Drill", drillOf(&b.BackupState))
	w.backupField("Upgrade", b.Operation)
	w.backupError(b.Error)
}

func (w *writer) rehearsal(b *cliv1alpha1.Backup) {
	for i := range b.Rehearsed {
		w.rehearsedHop(&b.Rehearsed[i])
	}
}

func (w *writer) backupField(name, value string) {
	if value != "" {
		w.hang("  "+name, plain, backupHang, as(plain, value))
	}
}

// backupProgress writes what an unfinished backup does.
func (w *writer) backupProgress(b *cliv1alpha1.Backup, now time.Time) {
	if b.Ended {
		return
	}
	elapsed := Clock(now.Sub(b.CreationTime))
	if b.ExpectedSeconds > 0 {
		elapsed += fmt.Sprintf(", the last one took %s", Clock(time.Duration(b.ExpectedSeconds)*time.Second))
	}
	w.backupField("Elapsed", elapsed)
	w.backupField("Activity", backupActivity(&b.BackupState))
	if !b.UnreachableSince.IsZero() {
		w.backupField("API server", fmt.Sprintf("unreachable for %s; the backup continues on its node", Clock(now.Sub(b.UnreachableSince))))
	}
}

func (w *writer) backupError(e *refitv1alpha1.BackupError) {
	if e == nil {
		return
	}
	w.section("Error")
	at := ""
	if e.Step != "" {
		at = " at " + e.Step
	}
	w.para(2, as(red, e.Reason+at+":"), as(plain, e.Message))
	w.para(4, as(plain, e.Remedy))
}

func (w *writer) rehearsedHop(hop *refitv1alpha1.RehearsedHop) {
	w.section("Rehearsal of " + hop.Kubernetes)
	w.para(2, as(plain, fmt.Sprintf("%s ran for %s and listed %s with %s.", hop.Release.Name, phrase.Duration(time.Duration(hop.Seconds)*time.Second),
		phrase.Count(int(hop.Resources), "resource"), phrase.Count(int(hop.Objects), "object"))))
	if hop.WithoutWatchCache {
		w.para(2, as(plain, "The host lacked the memory for the watch cache of the API server, so it ran without."))
	}
	if len(hop.Findings) == 0 {
		w.para(2, as(green, "No problem was found."))
		return
	}
	for i := range hop.Findings {
		w.rehearsalFinding(&hop.Findings[i])
	}
	if hop.MoreFindings > 0 {
		w.para(2, as(plain, fmt.Sprintf("and %s more", phrase.Count(int(hop.MoreFindings), "finding"))))
	}
}

func (w *writer) rehearsalFinding(f *refitv1alpha1.RehearsalFinding) {
	unknown := ""
	if f.Unknown {
		unknown = " (unknown: the rehearsal could not decide)"
	}
	w.blank()
	w.para(2, as(red, f.Reason), as(bold, f.Object), as(plain, unknown))
	w.para(4, as(plain, f.Message))
	w.para(4, as(plain, "→ "+f.Remedy))
}

// backupActivity is what an unfinished backup does or waits for.
func backupActivity(s *cliv1alpha1.BackupState) string {
	switch {
	case s.State == cliv1alpha1.BackupPending:
		return "waiting for the controller"
	case s.Step != "":
		return fmt.Sprintf("attempt %d on %s, step %s", s.Attempt, s.Node, s.Step)
	}
	return s.Message
}

func nodeAndAttempt(s *cliv1alpha1.BackupState) string {
	if s.Node == "" {
		return ""
	}
	return fmt.Sprintf("%s, attempt %d", s.Node, s.Attempt)
}

func drillOf(s *cliv1alpha1.BackupState) string {
	switch {
	case s.State == cliv1alpha1.BackupFailed:
		return ""
	case !s.Drilled.IsZero():
		return moment(s.Drilled) + ", restored into a scratch etcd and compared"
	case s.State == cliv1alpha1.BackupUnproven:
		return "requested, but the agent did not do it: upgrade Refit on " + s.Node
	case s.Drill == string(refitv1alpha1.DrillNone):
		return "none: this backup was never restored"
	}
	return strings.ToLower(s.Drill) + ", not done yet"
}

// identityLine is whether somebody can decrypt the backups of a store, and how to prove it.
func identityLine(i *cliv1alpha1.BackupIdentity) string {
	switch {
	case i == nil:
		return ""
	case i.Proven:
		return "proven: " + i.Message
	}
	return "unproven: " + i.Message + ". Prove it with `refit backup verify NAME --identity FILE`"
}

func moment(t time.Time) string { return phrase.Moment(t) }

func backupStyle(state string) style {
	switch state {
	case cliv1alpha1.BackupSucceeded:
		return green
	case cliv1alpha1.BackupFailed, cliv1alpha1.BackupFindings:
		return red
	case cliv1alpha1.BackupStalled, cliv1alpha1.BackupUnproven, cliv1alpha1.BackupDeleted:
		return yellow
	}
	return plain
}
