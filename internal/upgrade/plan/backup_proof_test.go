package plan

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func TestWhenABackupIsProven(t *testing.T) {
	for situation, test := range map[string]struct {
		change func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec)
		want   backupState
	}{
		"everything was tried":           {func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec) {}, backupProven},
		"it was not restored in a drill": {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) { b.Status.Drilled = nil }, backupFailed},
		"retention has deleted it": {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
			b.Status.Deleted = b.Status.ReadBack
		}, backupOutdated},
		"its last attempt failed": {failedThreeTimes, backupFailed},
		"the second hop was not rehearsed": {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
			b.Status.Rehearsed = b.Status.Rehearsed[:1]
		}, backupRefuted},
		"a hop has a known problem":  {finding(flagFinding), backupRefuted},
		"a hop has an open question": {finding(kmsFinding), backupRefuted},
		"the open question is waived": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			finding(kmsFinding)(b, s)
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckRehearsal, Object: kmsFinding.Object, Reason: "known"}}
		}, backupProven},
		"another question is waived": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			finding(kmsFinding)(b, s)
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckRehearsal, Object: "file /etc/x", Reason: "known"}}
		}, backupRefuted},
		"a waiver of open questions names a known problem": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			finding(flagFinding)(b, s)
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckRehearsal, Reason: "known"}}
		}, backupRefuted},
		"it has findings that it does not list":       {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) { b.Status.Rehearsed[1].MoreFindings = 3 }, backupRefuted},
		"it has open questions that it does not list": {manyQuestions(3), backupRefuted},
		"all open questions are waived, those that it does not list too": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			manyQuestions(3)(b, s)
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckRehearsal, Reason: "known"}}
		}, backupProven},
		"all open questions are waived, and a problem is not listed": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			manyQuestions(2)(b, s)
			s.Waivers = []refitv1alpha1.Waiver{{Check: policy.CheckRehearsal, Reason: "known"}}
		}, backupRefuted},
		"it is too old": {func(_ *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Backup.MaxAge = metav1.Duration{Duration: 30 * time.Minute}
		}, backupStale},
		"the clock of its host is behind": {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
			long := metav1.NewTime(clustertest.Now.AddDate(-1, 0, 0))
			b.Status.ReadBack, b.Status.Drilled, b.Status.Rehearsed[0].At, b.Status.Rehearsed[1].At = &long, &long, long, long
		}, backupProven},
		"it is too old, and the clock of its host is ahead": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Backup.MaxAge = metav1.Duration{Duration: 30 * time.Minute}
			ahead := metav1.NewTime(clustertest.Now.Add(-time.Minute))
			b.Status.ReadBack, b.Status.Drilled, b.Status.Rehearsed[0].At, b.Status.Rehearsed[1].At = &ahead, &ahead, ahead, ahead
		}, backupStale},
		"it is too old, and the clock of the controller was ahead": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Backup.MaxAge = metav1.Duration{Duration: 30 * time.Minute}
			b.Status.Conditions[0].LastTransitionTime = metav1.NewTime(clustertest.Now.AddDate(1, 0, 0))
		}, backupStale},
		"it runs": {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
			b.Status.StartTime = b.Status.ReadBack
		}, backupRunning},
		"another store is required": {func(_ *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) { s.Backup.Store = "offsite" }, backupOutdated},
		"it has no drill":           {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) { b.Spec.Drill = refitv1alpha1.DrillNone }, backupOutdated},
		"it rehearses another release": {func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
			b.Spec.Hops[0].Digest = "sha256:other"
		}, backupOutdated},
		"only a restore is required": {func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Backup.Drill, b.Status.Rehearsed = refitv1alpha1.DrillRestore, nil
		}, backupProven},
	} {
		t.Run(situation, func(t *testing.T) {
			v, b := provenView(t, test.change)
			if got := v.backupState(b, 0); got != test.want {
				t.Errorf("the backup is %s, want %s", got, test.want)
			}
		})
	}
}

// provenView is a cluster with a backup that proves both hops of a plan, except for a change.
func provenView(t *testing.T, change func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec)) (*view, *cluster.Backup) {
	t.Helper()
	s := clustertest.HA("v1.35.4", 3, 1, clustertest.Agents(), clustertest.Released("v1.36.3", "v1.37.1"))
	spec := to("v1.37.1")
	spec.Backup = &refitv1alpha1.UpgradeBackup{}
	spec = policy.Defaulted(spec)
	ended := metav1.NewTime(clustertest.Now.Add(-time.Hour))
	b := &cluster.Backup{Name: "backup", Hop: "v1.36.3", Number: 1, CreatedAt: ended.Add(-time.Minute)}
	b.Spec = refitv1alpha1.EtcdBackupSpec{Store: "local", Drill: refitv1alpha1.DrillRehearse}
	b.Status.ReadBack, b.Status.Drilled = &ended, &ended
	b.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, LastTransitionTime: ended}}
	for i := range s.Releases {
		ref := refitv1alpha1.ReleaseRef{Name: s.Releases[i].Name, Digest: s.Releases[i].Digest}
		b.Spec.Hops = append(b.Spec.Hops, ref)
		b.Status.Rehearsed = append(b.Status.Rehearsed, refitv1alpha1.RehearsedHop{Release: ref, At: ended})
	}
	change(b, &spec)
	clustertest.WithOperation("upgrade", spec)(s)
	p, err := Make(s, spec)
	if err != nil {
		t.Fatal(err)
	}
	return newView(p, s, clustertest.Now), b
}

// manyQuestions adds an open question, and three further findings of which some are unknown.
func manyQuestions(unknown int64) func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec) {
	return func(b *cluster.Backup, s *refitv1alpha1.ClusterUpgradeSpec) {
		finding(kmsFinding)(b, s)
		b.Status.Rehearsed[0].MoreFindings, b.Status.Rehearsed[0].MoreUnknown = 3, unknown
	}
}

func failedThreeTimes(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
	b.Status = refitv1alpha1.EtcdBackupStatus{Attempt: refitv1alpha1.MaxBackupAttempts}
}

func finding(f refitv1alpha1.RehearsalFinding) func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec) {
	return func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
		b.Status.Rehearsed[0].Findings = []refitv1alpha1.RehearsalFinding{f}
	}
}

func TestABackupInADirectoryIsLostWithItsHost(t *testing.T) {
	for situation, test := range map[string]struct {
		change func(*view, *cluster.Backup)
		want   backupState
	}{
		"the host is there":                 {func(*view, *cluster.Backup) {}, backupProven},
		"the host has left the cluster":     {func(_ *view, b *cluster.Backup) { b.Status.Node = "cp-9" }, backupOutdated},
		"the host is no control plane host": {func(v *view, b *cluster.Backup) { v.nodes[b.Status.Node].ControlPlane = false }, backupOutdated},
		"the host has joined again since":   {func(v *view, b *cluster.Backup) { v.nodes[b.Status.Node].CreatedAt = b.CreatedAt.Add(time.Second) }, backupOutdated},
		"the next attempt runs":             {func(_ *view, b *cluster.Backup) { b.Status.Node, b.Status.StartTime = "cp-9", b.Status.ReadBack }, backupRunning},
		"the store is a bucket": {func(v *view, b *cluster.Backup) {
			b.Status.Node, v.s.BackupStores = "cp-9", []cluster.BackupStore{{Name: "local"}}
		}, backupProven},
	} {
		t.Run(situation, func(t *testing.T) {
			v, b := provenView(t, func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec) {})
			v.s.BackupStores = []cluster.BackupStore{{Name: "local", Directory: "/var/lib/refit-backups"}}
			b.Status.Node = v.controlPlane[1].Name
			test.change(v, b)
			if got := v.backupState(b, 0); got != test.want {
				t.Errorf("the backup is %s, want %s", got, test.want)
			}
		})
	}
}

func TestABackupFromBeforeTheLastHopIsOutdated(t *testing.T) {
	for situation, test := range map[string]struct {
		trial time.Duration // after the backup was created
		want  backupState
	}{
		"the hop ended before":                    {-time.Minute, backupProven},
		"the hop ended after":                     {10 * time.Minute, backupOutdated},
		"the clocks differ as much as they may":   {2 * maxClockSkew, backupProven},
		"the controller's clock was a year ahead": {365 * 24 * time.Hour, backupProven},
	} {
		t.Run(situation, func(t *testing.T) {
			v, b := provenView(t, func(*cluster.Backup, *refitv1alpha1.ClusterUpgradeSpec) {})
			n, started := v.controlPlane[0], metav1.NewTime(b.CreatedAt.Add(test.trial))
			n.Upgrade = &cluster.Upgrade{}
			n.Upgrade.Spec.Operation.UID, n.Upgrade.Spec.NodeUID = types.UID(v.op.UID), types.UID(n.UID)
			n.Upgrade.Status.Trial = &refitv1alpha1.TrialStatus{Phase: refitv1alpha1.TrialPassed, StartTime: &started}
			if got := v.backupState(b, 0); got != test.want {
				t.Errorf("the backup is %s, want %s", got, test.want)
			}
		})
	}
}

func TestNoBackupIsCreatedAfterTheLastNumber(t *testing.T) {
	v, b := provenView(t, func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
		b.Number, b.Spec.Drill = cluster.MaxBackupNumber, refitv1alpha1.DrillNone
	})
	v.s.Backups = []cluster.Backup{*b}
	d := &deciding{view: v}
	d.createBackup(0, "the last one is not what the plan requires")
	if len(d.actions) > 0 || len(d.waiting) != 1 || !d.waiting[0].ManualIntervention {
		t.Errorf("it does %v and waits for %v", d.actions, d.waiting)
	}
}

// TestBackupThatItsControllerNeglects bounds the wait for the controller of EtcdBackups.
func TestBackupThatItsControllerNeglects(t *testing.T) {
	ago := func(d time.Duration) *metav1.Time {
		at := metav1.NewTime(clustertest.Now.Add(-d))
		return &at
	}
	failedAt := func(at *metav1.Time) refitv1alpha1.EtcdBackupStatus {
		return refitv1alpha1.EtcdBackupStatus{Attempt: 1, Error: &refitv1alpha1.BackupError{At: *at}}
	}
	waits := []metav1.Condition{{Type: refitv1alpha1.ConditionStalled, Status: metav1.ConditionFalse}}
	for situation, test := range map[string]struct {
		created time.Duration // ago
		status  refitv1alpha1.EtcdBackupStatus
		agent   refitv1alpha1.BackupPhase // that the agent on cp-2 reports
		manual  bool
	}{
		"it was just created":                   {time.Minute, refitv1alpha1.EtcdBackupStatus{}, "", false},
		"nothing has happened since":            {interventionDelay + time.Minute, refitv1alpha1.EtcdBackupStatus{}, "", true},
		"it was seen, and nothing since":        {interventionDelay + time.Minute, refitv1alpha1.EtcdBackupStatus{Conditions: waits}, "", true},
		"an attempt has just failed":            {5 * time.Hour, failedAt(ago(time.Minute)), "", false},
		"nothing has followed an attempt":       {5 * time.Hour, failedAt(ago(interventionDelay + time.Minute)), "", true},
		"an attempt takes hours":                {5 * time.Hour, refitv1alpha1.EtcdBackupStatus{Attempt: 1, StartTime: ago(5 * time.Hour)}, refitv1alpha1.BackupRunning, false},
		"an attempt is not ended in time":       {7 * time.Hour, refitv1alpha1.EtcdBackupStatus{Attempt: 1, StartTime: ago(7 * time.Hour)}, refitv1alpha1.BackupRunning, true},
		"it started by a clock a year ahead":    {7 * time.Hour, refitv1alpha1.EtcdBackupStatus{Attempt: 1, StartTime: ago(-8760 * time.Hour)}, refitv1alpha1.BackupRunning, true},
		"an attempt was not given to its agent": {time.Hour, refitv1alpha1.EtcdBackupStatus{Attempt: 1, StartTime: ago(interventionDelay + time.Minute)}, "", true},
		"the agent has just ended":              {time.Hour, refitv1alpha1.EtcdBackupStatus{Attempt: 1, StartTime: ago(time.Hour)}, refitv1alpha1.BackupSucceeded, false},
		"the agent ended long ago":              {3 * time.Hour, refitv1alpha1.EtcdBackupStatus{Attempt: 1, StartTime: ago(3 * time.Hour)}, refitv1alpha1.BackupFailed, true},
	} {
		t.Run(situation, func(t *testing.T) {
			v, b := provenView(t, func(b *cluster.Backup, _ *refitv1alpha1.ClusterUpgradeSpec) {
				b.CreatedAt, b.Status = clustertest.Now.Add(-test.created), test.status
				b.Status.Node = "cp-2"
			})
			if test.agent != "" {
				v.nodes["cp-2"].Upgrade = &cluster.Upgrade{}
				v.nodes["cp-2"].Upgrade.Status.Backup = agentsBackup(test.agent, ago)
			}
			d := &deciding{view: v}
			d.followBackup(b, 0)
			if len(d.waiting) != 1 || d.waiting[0].ManualIntervention != test.manual {
				t.Errorf("it waits for %+v, want manual intervention: %t", d.waiting, test.manual)
			}
		})
	}
}

// agentsBackup is what an agent reports about the first attempt: it succeeded a minute ago, or
// failed two hours ago.
func agentsBackup(phase refitv1alpha1.BackupPhase, ago func(time.Duration) *metav1.Time) *refitv1alpha1.NodeBackupStatus {
	out := &refitv1alpha1.NodeBackupStatus{Attempt: 1, Phase: phase}
	switch phase {
	case refitv1alpha1.BackupSucceeded:
		out.Rehearsed = []refitv1alpha1.RehearsedHop{{At: *ago(time.Minute)}}
	case refitv1alpha1.BackupFailed:
		out.Error = &refitv1alpha1.BackupError{At: *ago(2 * time.Hour)}
	case refitv1alpha1.BackupRunning:
	}
	return out
}
