package text

import (
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// BackupLines renders the changes since the last progress, a line each, with the time since the
// backup was created. It is empty if nothing changed.
func BackupLines(last, b *cliv1alpha1.Backup, now time.Time) string {
	t := &changes{stamp: Clock(now.Sub(b.CreationTime))}
	if last == nil {
		last = &cliv1alpha1.Backup{}
		t.line("Backup %s of etcd to %s", b.Name, b.Store)
		if b.ExpectedSeconds > 0 {
			t.line("The last one took %s", Clock(time.Duration(b.ExpectedSeconds)*time.Second))
		}
	}
	switch was, is := !last.UnreachableSince.IsZero(), !b.UnreachableSince.IsZero(); {
	case is && !was:
		t.line("The API server is unreachable; the backup continues on its node")
	case was && !is:
		t.line("The API server is reachable again after %s", Clock(now.Sub(last.UnreachableSince)))
	}
	if b.Error != nil && (last.Error == nil || *last.Error != *b.Error) {
		t.line("Attempt %d failed on %s: %s", b.Attempt, b.Node, b.Error.Message)
		t.line("  → %s", b.Error.Remedy)
	}
	if activity := backupActivity(&b.BackupState); !b.Ended && activity != "" && activity != backupActivity(&last.BackupState) {
		t.line("%s", capital(activity))
	}
	for _, each := range []struct {
		was, is time.Time
		line    string
	}{
		{last.Verified, b.Verified, "Stored, and read back from the store"},
		{last.Drilled, b.Drilled, "Restored into a scratch etcd and compared"},
	} {
		if each.was.IsZero() && !each.is.IsZero() {
			t.line("%s", each.line)
		}
	}
	if b.Ended && !last.Ended && b.Digest != "" {
		t.line("Digest %s", b.Digest)
	}
	for i := len(last.Rehearsed); i < len(b.Rehearsed); i++ {
		t.line("Rehearsed %s: %d resources, %d objects, %d findings", b.Rehearsed[i].Kubernetes, b.Rehearsed[i].Resources,
			b.Rehearsed[i].Objects, len(b.Rehearsed[i].Findings)+int(b.Rehearsed[i].MoreFindings))
	}
	return t.out.String()
}

// BackupFrame renders the progress of a backup for a terminal that is redrawn: no line wraps, and
// the last line of the terminal stays free for the cursor.
func BackupFrame(b *cliv1alpha1.Backup, p Page, rows int, now time.Time) string {
	w := newWriter(p)
	w.backup(b, now)
	return fitFrame(strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n"), p.Width, rows)
}
