package progress

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var backupTime = time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)

func after(d time.Duration) *metav1.Time {
	at := metav1.NewTime(backupTime.Add(d))
	return &at
}

// taken is a backup that was stored after a minute.
func taken(changes ...func(*refitv1alpha1.EtcdBackup)) *refitv1alpha1.EtcdBackup {
	b := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "u", CreationTimestamp: metav1.NewTime(backupTime)}}
	b.Spec.Store = "local"
	b.Status.Node, b.Status.Attempt, b.Status.ReadBack = "cp-2", 1, after(time.Minute)
	b.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Message: "stored"}}
	for _, change := range changes {
		change(b)
	}
	return b
}

func drill(d refitv1alpha1.Drill, hops int) func(*refitv1alpha1.EtcdBackup) {
	return func(b *refitv1alpha1.EtcdBackup) {
		b.Spec.Drill, b.Spec.Hops = d, make([]refitv1alpha1.ReleaseRef, hops)
	}
}

func drilled(b *refitv1alpha1.EtcdBackup) { b.Status.Drilled = after(2 * time.Minute) }

func rehearsed(findings ...refitv1alpha1.RehearsalFinding) func(*refitv1alpha1.EtcdBackup) {
	return func(b *refitv1alpha1.EtcdBackup) {
		b.Status.Rehearsed = append(b.Status.Rehearsed, refitv1alpha1.RehearsedHop{At: *after(5 * time.Minute), Findings: findings})
	}
}

func running(b *refitv1alpha1.EtcdBackup) {
	b.Status.ReadBack, b.Status.StartTime = nil, after(0)
	b.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionFalse, Message: "Attempt 1 on cp-2"}}
}

func TestStatesOfABackup(t *testing.T) {
	for situation, c := range map[string]struct {
		b    *refitv1alpha1.EtcdBackup
		want string
	}{
		"just created": {taken(func(b *refitv1alpha1.EtcdBackup) { b.Status = refitv1alpha1.EtcdBackupStatus{} }), cliv1alpha1.BackupPending},
		"running":      {taken(running), cliv1alpha1.BackupRunning},
		"no store": {taken(running, func(b *refitv1alpha1.EtcdBackup) {
			b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: refitv1alpha1.ConditionStalled, Status: metav1.ConditionTrue})
		}), cliv1alpha1.BackupStalled},
		"stored":                         {taken(), cliv1alpha1.BackupSucceeded},
		"stored while the drill runs":    {taken(drill(refitv1alpha1.DrillRestore, 0), func(b *refitv1alpha1.EtcdBackup) { b.Status.StartTime = after(0) }), cliv1alpha1.BackupRunning},
		"the agent ignores the drill":    {taken(drill(refitv1alpha1.DrillRestore, 0)), cliv1alpha1.BackupUnproven},
		"drilled":                        {taken(drill(refitv1alpha1.DrillRestore, 0), drilled), cliv1alpha1.BackupSucceeded},
		"one of two hops rehearsed":      {taken(drill(refitv1alpha1.DrillRehearse, 2), drilled, rehearsed()), cliv1alpha1.BackupUnproven},
		"rehearsed":                      {taken(drill(refitv1alpha1.DrillRehearse, 1), drilled, rehearsed()), cliv1alpha1.BackupSucceeded},
		"the first of two hops fails":    {taken(drill(refitv1alpha1.DrillRehearse, 2), drilled, rehearsed(refitv1alpha1.RehearsalFinding{Reason: "X"})), cliv1alpha1.BackupFindings},
		"an unknown result is a finding": {taken(drill(refitv1alpha1.DrillRehearse, 1), drilled, rehearsed(refitv1alpha1.RehearsalFinding{Unknown: true})), cliv1alpha1.BackupFindings},
		"retention has deleted it":       {taken(drill(refitv1alpha1.DrillRestore, 0), drilled, func(b *refitv1alpha1.EtcdBackup) { b.Status.Deleted = after(time.Hour) }), cliv1alpha1.BackupDeleted},
		"the last attempt failed": {taken(func(b *refitv1alpha1.EtcdBackup) {
			b.Status.ReadBack, b.Status.Attempt = nil, refitv1alpha1.MaxBackupAttempts
		}), cliv1alpha1.BackupFailed},
		"the first attempt failed so far": {taken(running, func(b *refitv1alpha1.EtcdBackup) { b.Status.StartTime = nil }), cliv1alpha1.BackupRunning},
	} {
		if got := NewBackup("prod", c.b, nil, nil); got.State != c.want || got.Ended != c.b.HasEnded() {
			t.Errorf("%s: %s, want %s", situation, got.State, c.want)
		}
	}
}

func TestTheExpectedDurationIsThatOfTheLastSimilarBackup(t *testing.T) {
	earlier := func(uid string, hours int, changes ...func(*refitv1alpha1.EtcdBackup)) refitv1alpha1.EtcdBackup {
		b := taken(changes...)
		b.UID, b.CreationTimestamp = types.UID(uid), metav1.NewTime(backupTime.Add(-time.Duration(hours)*time.Hour))
		return *b
	}
	others := []refitv1alpha1.EtcdBackup{
		earlier("a", 48), earlier("b", 24), earlier("c", 1, drill(refitv1alpha1.DrillRestore, 0), drilled), earlier("d", 2, running),
	}
	if got := NewBackup("prod", taken(running), nil, others).ExpectedSeconds; got != int64((24*time.Hour + time.Minute).Seconds()) {
		t.Errorf("expected %d s", got)
	}
	if got := NewBackup("prod", taken(), nil, others).ExpectedSeconds; got != 0 {
		t.Errorf("a backup that ended is expected to take %d s", got)
	}
}

func TestABackupHasTheProofOfItsStore(t *testing.T) {
	proven := refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "offsite"}, Spec: refitv1alpha1.BackupStoreSpec{Recipients: []string{"age1a"}}}
	proven.Status.Proven = &refitv1alpha1.ProvenIdentity{Recipients: []string{"age1a"}, Backup: "nightly"}
	changed := *proven.DeepCopy()
	changed.Spec.Recipients = []string{"age1b"}
	for situation, c := range map[string]struct {
		stores  []refitv1alpha1.BackupStore
		proven  bool
		message string // empty if nothing is known
	}{
		"the store is proven":          {[]refitv1alpha1.BackupStore{{}, proven}, true, "an identity of a recipient has decrypted nightly"},
		"it has other recipients now":  {[]refitv1alpha1.BackupStore{changed}, false, "no identity of the current recipients"},
		"the BackupStore is not known": {nil, false, ""},
	} {
		b := taken()
		b.Spec.Store = "offsite"
		shown, listed := ShowBackup("prod", b, nil, c.stores), NewBackups("prod", []refitv1alpha1.EtcdBackup{*b}, c.stores)
		for _, got := range []*cliv1alpha1.BackupIdentity{shown.Identity, listed.Backups[0].Identity} {
			switch {
			case c.message == "" && got != nil:
				t.Errorf("%s: %+v", situation, got)
			case c.message != "" && (got == nil || got.Proven != c.proven || !strings.HasPrefix(got.Message, c.message)):
				t.Errorf("%s: %+v", situation, got)
			}
		}
	}
}

func TestTheStepIsThatOfThisAttempt(t *testing.T) {
	order := &refitv1alpha1.NodeUpgrade{}
	order.Status.Backup = &refitv1alpha1.NodeBackupStatus{UID: "u", Attempt: 1, Step: "snapshot"}
	if got := NewBackup("prod", taken(running), order, nil).Step; got != "snapshot" {
		t.Errorf("step %q", got)
	}
	order.Status.Backup.Attempt = 2
	if got := NewBackup("prod", taken(running), order, nil).Step; got != "" {
		t.Errorf("the step %q is of another attempt", got)
	}
}
