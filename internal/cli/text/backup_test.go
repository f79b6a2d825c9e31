package text_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

var backupTime = time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)

// stored is a backup that was restored in a drill.
func stored(changes ...func(*cliv1alpha1.Backup)) *cliv1alpha1.Backup {
	b := &cliv1alpha1.Backup{Cluster: "prod", BackupState: cliv1alpha1.BackupState{
		Name: "backup-20261116-0300", UID: "0a1b2c3d-0000-4000-8000-000000000000", Store: "local", State: cliv1alpha1.BackupSucceeded, Ended: true,
		CreationTime: backupTime, Node: "cp-2", Attempt: 1, Revision: 1234567, Keys: 50321, Hash: "9f3c21aa", Size: 2 << 30,
		Object:   "0a1b2c3d-0000-4000-8000-000000000000/1/manifest-" + strings.Repeat("ab", 32) + ".json",
		Digest:   "sha256:" + strings.Repeat("ab", 32),
		Verified: backupTime.Add(time.Minute), Drill: "Restore", Drilled: backupTime.Add(2 * time.Minute),
		Identity: &cliv1alpha1.BackupIdentity{Proven: true, Message: "an identity of a recipient has decrypted backup-20261101-0300"},
	}}
	for _, change := range changes {
		change(b)
	}
	return b
}

func stillRunning(b *cliv1alpha1.Backup) {
	b.State, b.Ended, b.Step, b.ExpectedSeconds = cliv1alpha1.BackupRunning, false, "snapshot", 185
	b.Object, b.Digest, b.Verified, b.Drilled, b.Revision = "", "", time.Time{}, time.Time{}, 0
}

func withFindings(b *cliv1alpha1.Backup) {
	b.Name, b.State, b.Drill, b.Hops = "rehearsal-20261116-0300", cliv1alpha1.BackupFindings, "Rehearse", []string{"kubernetes-v1.35.4", "kubernetes-v1.36.3"}
	b.Identity = &cliv1alpha1.BackupIdentity{Message: "no identity has decrypted a backup of this BackupStore"}
	b.Rehearsed = []refitv1alpha1.RehearsedHop{
		{
			Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.35.4"}, Kubernetes: "v1.35.4", At: metav1.NewTime(backupTime), Seconds: 95,
			Resources: 213, Objects: 50321, WithoutWatchCache: true,
		},
		{
			Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"}, Kubernetes: "v1.36.3", At: metav1.NewTime(backupTime), Seconds: 12, MoreFindings: 3,
			Findings: []refitv1alpha1.RehearsalFinding{
				{Reason: "FlagUnknown", Object: "--feature-gates=Old", Message: "kube-apiserver v1.36.3 does not have the feature gate Old", Remedy: "Remove it from apiServer.extraArgs"},
				{Reason: "KMSUnreachable", Object: "/etc/kubernetes/encryption.yaml", Message: "the KMS plugin does not respond", Remedy: "Start the KMS plugin", Unknown: true},
			},
		},
	}
}

func wasDeleted(b *cliv1alpha1.Backup) {
	b.State, b.Deleted = cliv1alpha1.BackupDeleted, backupTime.Add(24*time.Hour)
}

func hasFailed(b *cliv1alpha1.Backup) {
	*b = cliv1alpha1.Backup{Cluster: "prod", BackupState: cliv1alpha1.BackupState{
		Name: b.Name, Store: "offsite", State: cliv1alpha1.BackupFailed, Ended: true, CreationTime: backupTime, Node: "cp-3", Attempt: 3, Drill: "None",
		Operation: "to-v1-36-3", Error: &refitv1alpha1.BackupError{
			Reason: "StoreFull", Step: "snapshot", Message: "the bucket backups is full", Remedy: "Delete objects, or increase the quota of the bucket",
		},
	}}
}

func TestPagesOfBackups(t *testing.T) {
	for name, b := range map[string]*cliv1alpha1.Backup{
		"stored": stored(), "running": stored(stillRunning), "findings": stored(withFindings), "failed": stored(hasFailed), "deleted": stored(wasDeleted),
	} {
		golden(t, "backup-"+name, text.Backup(b, text.Page{Width: 100, Now: backupTime.Add(90 * time.Second)}), 130)
	}
}

func TestEndOfACreatedBackup(t *testing.T) {
	if got := text.BackupEnd(stored(hasFailed), text.Page{Width: 100}); got != "" {
		t.Errorf("a failed backup: %q", got)
	}
	b := stored(func(b *cliv1alpha1.Backup) {
		b.Recipients = []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"}
		b.NextSteps = []cliv1alpha1.BackupNextStep{
			{Purpose: cliv1alpha1.StepProveIdentity, Node: "cp-2", Command: "refit-agent backup verify " + b.Name + " --identity FILE"},
			{Purpose: cliv1alpha1.StepRestore, Command: "refit restore " + b.Name},
		}
	})
	golden(t, "backup-end", text.BackupEnd(b, text.Page{Width: 100}), 130)
}

func TestListOfBackups(t *testing.T) {
	list := &cliv1alpha1.Backups{Cluster: "prod"}
	if got := text.Backups(list, backupTime, "refit"); !strings.Contains(got, "`refit backup create`") {
		t.Errorf("an empty list: %q", got)
	}
	for _, b := range []*cliv1alpha1.Backup{stored(stillRunning), stored(), stored(withFindings), stored(hasFailed), stored(wasDeleted)} {
		list.Backups = append(list.Backups, b.BackupState)
	}
	golden(t, "backups", text.Backups(list, backupTime.Add(26*time.Hour), "refit"), 140)
}

// A log has each event once.
func TestLinesOfABackup(t *testing.T) {
	unreachable := func(b *cliv1alpha1.Backup) { b.UnreachableSince = backupTime.Add(40 * time.Second) }
	failed := func(b *cliv1alpha1.Backup) { b.Attempt, b.Error = 2, stored(hasFailed).Error }
	var last *cliv1alpha1.Backup
	var out strings.Builder
	for i, b := range []*cliv1alpha1.Backup{
		stored(stillRunning, func(b *cliv1alpha1.Backup) { b.State, b.Step = cliv1alpha1.BackupPending, "" }),
		stored(stillRunning), stored(stillRunning), stored(stillRunning, unreachable), stored(stillRunning, unreachable), stored(stillRunning),
		stored(stillRunning, failed), stored(withFindings),
	} {
		out.WriteString(text.BackupLines(last, b, backupTime.Add(time.Duration(i)*15*time.Second)))
		last = b
	}
	golden(t, "backup-lines", out.String(), 100)
}

func TestPagesOfVerifications(t *testing.T) {
	v := &cliv1alpha1.BackupVerification{
		Cluster: "prod", Backup: "backup-20261116-0300", Store: "offsite", Location: "https://s3.example.com/backups",
		Object: stored().Object, Digest: stored().Digest, Time: backupTime, EtcdVersion: "3.6.6", Revision: 1234567,
		Parts: []cliv1alpha1.VerifiedPart{{Name: "etcd.db.zst.age", Stored: 700 << 20, Plain: 2 << 30}, {Name: "host.tar.zst.age", Stored: 40 << 10, Plain: 90 << 10}},
	}
	golden(t, "backup-verified", text.BackupVerification(v, text.Page{Width: 100}), 130)
	v.Decrypted, v.Drilled, v.IdentityProven, v.Recipients = true, true, true, []string{"age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"}
	golden(t, "backup-decrypted", text.BackupVerification(v, text.Page{Width: 100}), 130)
	v.Deleted = backupTime
	if got := text.BackupVerification(v, text.Page{Width: 130}); !strings.Contains(got, "Marked    as deleted on ") {
		t.Errorf("a backup that is marked as deleted:\n%s", got)
	}
}

func TestTransferHasTheTimeLeft(t *testing.T) {
	for situation, c := range map[string]struct {
		done, total int64
		want        string
	}{
		"nothing read": {0, 4 << 30, "1 KiB of 4.0 GiB"},
		"a quarter":    {1 << 30, 4 << 30, "1.0 GiB of 4.0 GiB, 3 min left"},
		"everything":   {4 << 30, 4 << 30, "4.0 GiB of 4.0 GiB"},
	} {
		if got := text.Transfer(c.done, c.total, time.Minute); got != c.want {
			t.Errorf("%s: %q", situation, got)
		}
	}
}

func TestPagesOfPruning(t *testing.T) {
	p := &cliv1alpha1.BackupPruning{Cluster: "prod"}
	if got := text.BackupPruning(p, text.Page{Width: 100}); !strings.Contains(got, "there is nothing to delete") {
		t.Errorf("nothing: %q", got)
	}
	p.Stores = []cliv1alpha1.PrunedStore{{Name: "local", Skipped: "it is on hosts"}}
	if got := text.BackupPruning(p, text.Page{Width: 100}); !strings.Contains(got, "no BackupStore can be read from this machine") {
		t.Errorf("nothing read: %q", got)
	}
	attempt := func(name, state string, size int64) cliv1alpha1.StoredAttempt {
		return cliv1alpha1.StoredAttempt{UID: "0a1b2c3d-0000-4000-8000-000000000000", Attempt: 1, Backup: name, State: state, Size: size, Modified: backupTime}
	}
	left := attempt("", "Unknown", 4<<20)
	left.Problem = "cannot read manifest-abc.json: access denied"
	p.Stores = []cliv1alpha1.PrunedStore{
		{Name: "local", Location: "/var/lib/refit-backups", Skipped: "BackupStore local is the directory /var/lib/refit-backups on control plane hosts."},
		{
			Name: "offsite", Location: "https://s3.example.com/backups", KeepLast: 14, KeepAge: "720h", Kept: 14, LeftAlone: []cliv1alpha1.StoredAttempt{left},
			Expired: []cliv1alpha1.StoredAttempt{attempt("backup-20261001-0300", "Complete", 700<<20), attempt("", "Unfinished", 3<<20), attempt("broken", "Damaged", 1)},
			Gone:    []string{"backup-20260901-0300"},
		},
	}
	golden(t, "backup-prune", text.BackupPruning(p, text.Page{Width: 100}), 130)
	for i := range p.Stores[1].Expired {
		p.Stores[1].Expired[i].Deleted = true
	}
	golden(t, "backup-pruned", text.BackupPruning(p, text.Page{Width: 100}), 130)
}
