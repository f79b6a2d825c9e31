package etcdbackup

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// observed is a cluster with a leader and two followers.
func observed(changes ...func(*Observation)) *Observation {
	o := &Observation{Backup: &refitv1alpha1.EtcdBackup{}, Nodes: []cluster.Node{member("cp-1", leads), member("cp-2"), member("cp-3")}, Now: now, Prefix: "prod"}
	o.Backup.Name, o.Backup.UID, o.Backup.Spec.Store, o.Backup.CreationTimestamp = "nightly", "b-uid", "local", metav1.NewTime(now)
	for _, change := range changes {
		change(o)
	}
	return o
}

// started is an attempt that was recorded on cp-2 some time ago.
func started(ago time.Duration) func(*Observation) {
	return func(o *Observation) {
		at := metav1.NewTime(now.Add(-ago))
		o.Backup.Status.Node, o.Backup.Status.Attempt, o.Backup.Status.StartTime = "cp-2", 1, &at
	}
}

// failed is an attempt that failed some time ago.
func failed(attempt int64, ago time.Duration) func(*Observation) {
	return func(o *Observation) {
		o.Backup.Status.Attempt, o.Backup.Status.Error = attempt, &refitv1alpha1.BackupError{Reason: "StoreUnreachable", At: metav1.NewTime(now.Add(-ago))}
	}
}

// given is the order of the attempt.
func given(o *Observation) {
	ordered(refitv1alpha1.PermitBackup, refitv1alpha1.NodeIdle, func(u *cluster.Upgrade) { u.Spec.Backup = Ref(o.Backup) })(&o.Nodes[1])
}

func reports(phase refitv1alpha1.BackupPhase) func(*Observation) {
	return func(o *Observation) {
		given(o)
		o.Nodes[1].Upgrade.Status.Backup = &refitv1alpha1.NodeBackupStatus{UID: "b-uid", Attempt: 1, Phase: phase}
		o.Nodes[1].Upgrade.Status.Backup.Digest = "sha256:" + strings.Repeat("e", 64)
	}
}

func refuses(o *Observation) {
	given(o)
	o.Nodes[1].Upgrade.Status.Conditions = []metav1.Condition{{
		Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, ObservedGeneration: 4, Reason: "StaleSequence", Message: "stale",
	}}
}

// The agent of a node reports only its last backup.
func TestANodeTakesTheNextBackupOnceTheResultOfTheLastOneIsRecorded(t *testing.T) {
	first := observed(started(time.Minute), reports(refitv1alpha1.BackupSucceeded))
	second := observed(func(o *Observation) {
		o.Backup.Name, o.Backup.UID, o.Nodes = "second", "second", first.Nodes[:2]
	})
	all := []refitv1alpha1.EtcdBackup{*first.Backup, *second.Backup}
	second.Taking = Taking(all, second.Backup)
	if got := Next(second); got.Kind != Waiting || got.Wait.Reason != ReasonNoSuitableNode || !strings.Contains(got.Wait.Message, "it takes EtcdBackup nightly") {
		t.Errorf("before: %+v", got)
	}
	done := Next(first)
	Apply(first.Backup, &done, now)
	all[0] = *first.Backup
	second.Taking = Taking(all, second.Backup)
	if got := Next(second); got.Kind != Start || got.Node.Name != "cp-2" {
		t.Errorf("after: %+v", got)
	}
}

func TestNext(t *testing.T) {
	for situation, tt := range map[string]struct {
		changes []func(*Observation)
		want    ActionKind
		reason  string // of the wait or the failure
	}{
		"a new backup":            {nil, Start, ""},
		"no store":                {[]func(*Observation){func(o *Observation) { o.StoreMissing = true }}, Waiting, ReasonStoreMissing},
		"old reports":             {[]func(*Observation){func(o *Observation) { o.Nodes[2].ReportRequest = 0 }}, RequestReport, ""},
		"only the leader is left": {[]func(*Observation){func(o *Observation) { o.Nodes = o.Nodes[:1] }}, Waiting, ReasonNoSuitableNode},
		"a recorded attempt":      {[]func(*Observation){started(0)}, GiveOrder, ""},
		"its node was claimed since": {[]func(*Observation){started(0), func(o *Observation) {
			o.Active = map[string]bool{"cp-2": true}
		}}, Waiting, refitv1alpha1.ReasonWaiting},
		"its node stays claimed": {[]func(*Observation){started(takeTimeout), func(o *Observation) {
			o.Active = map[string]bool{"cp-2": true}
		}}, EndAttempt, "NodeUnsuitable"},
		"its node has left":         {[]func(*Observation){started(0), func(o *Observation) { o.Nodes = o.Nodes[:1] }}, EndAttempt, "NodeLost"},
		"an order not yet taken":    {[]func(*Observation){started(0), given}, Waiting, refitv1alpha1.ReasonPending},
		"an order that nobody took": {[]func(*Observation){started(takeTimeout), given}, Withdraw, "AgentSilent"},
		"a refused order":           {[]func(*Observation){started(0), refuses}, Withdraw, "StaleSequence"},
		"a backup in progress":      {[]func(*Observation){started(time.Hour), reports(refitv1alpha1.BackupRunning)}, Follow, ""},
		"one that does not end":     {[]func(*Observation){started(orders.BackupTimeout + time.Second), reports(refitv1alpha1.BackupRunning)}, Withdraw, "BackupTimeout"},
		"a failed one":              {[]func(*Observation){started(0), reports(refitv1alpha1.BackupFailed)}, EndAttempt, "BackupFailed"},
		"a complete one":            {[]func(*Observation){started(0), reports(refitv1alpha1.BackupSucceeded)}, Finish, ""},
		"stored by an agent without drills": {[]func(*Observation){started(0), reports(refitv1alpha1.BackupSucceeded), func(o *Observation) {
			o.Backup.Spec.Drill = refitv1alpha1.DrillRestore
		}}, EndAttempt, "NotDrilled"},
		"drilled, but not rehearsed": {[]func(*Observation){started(0), reports(refitv1alpha1.BackupSucceeded), func(o *Observation) {
			o.Backup.Spec.Drill = refitv1alpha1.DrillRehearse
			o.Nodes[1].Upgrade.Status.Backup.Drilled = &metav1.Time{Time: now}
		}}, EndAttempt, "NotDrilled"},
		"a drilled one": {[]func(*Observation){started(0), reports(refitv1alpha1.BackupSucceeded), func(o *Observation) {
			o.Backup.Spec.Drill = refitv1alpha1.DrillRestore
			o.Nodes[1].Upgrade.Status.Backup.Drilled = &metav1.Time{Time: now}
		}}, Finish, ""},
		"an ended one": {[]func(*Observation){func(o *Observation) {
			at := metav1.NewTime(now)
			o.Backup.Status.ReadBack = &at
		}}, Nothing, ""},
		"the first attempt just failed":     {[]func(*Observation){failed(1, 9*time.Second)}, Waiting, ReasonAttemptFailed},
		"the first attempt failed":          {[]func(*Observation){failed(1, 10*time.Second)}, Start, ""},
		"the second attempt just failed":    {[]func(*Observation){failed(2, 59*time.Second)}, Waiting, ReasonAttemptFailed},
		"the second attempt failed":         {[]func(*Observation){failed(2, time.Minute)}, Start, ""},
		"it failed on a host that is ahead": {[]func(*Observation){failed(1, -time.Second)}, Start, ""},
		"the last attempt failed":           {[]func(*Observation){func(o *Observation) { o.Backup.Status.Attempt = refitv1alpha1.MaxBackupAttempts }}, Nothing, ""},
	} {
		got := Next(observed(tt.changes...))
		reason := ""
		switch {
		case got.Wait != nil:
			reason = got.Wait.Reason
		case got.Failure != nil:
			reason = got.Failure.Reason
		}
		if got.Kind != tt.want || reason != tt.reason {
			t.Errorf("%s: %s %s, want %s %s", situation, got.Kind, reason, tt.want, tt.reason)
		}
	}
}

func TestStatusFollowsTheActions(t *testing.T) {
	o := observed()
	apply := func(changes ...func(*Observation)) Action {
		for _, change := range changes {
			change(o)
		}
		a := Next(o)
		Apply(o.Backup, &a, now)
		return a
	}
	is := func(kind string, want metav1.ConditionStatus) {
		t.Helper()
		if c := meta.FindStatusCondition(o.Backup.Status.Conditions, kind); c == nil || c.Status != want {
			t.Errorf("%s is %+v, want %s", kind, c, want)
		}
	}
	o.Location = "/mnt/backups"
	if apply(); o.Backup.Status.Node != "cp-2" || o.Backup.Status.Attempt != 1 || o.Backup.Status.StartTime == nil {
		t.Fatalf("after the start: %+v", o.Backup.Status)
	}
	is(refitv1alpha1.ConditionReconciling, metav1.ConditionTrue)
	if apply(reports(refitv1alpha1.BackupFailed)); o.Backup.Status.Error == nil || o.Backup.Status.StartTime != nil || o.Backup.HasEnded() {
		t.Fatalf("after a failure: %+v", o.Backup.Status)
	}
	is(refitv1alpha1.ConditionStalled, metav1.ConditionFalse)
	if apply(func(o *Observation) { o.Now = now.Add(pauses[0]) }); o.Backup.Status.Node != "cp-3" || o.Backup.Status.Attempt != 2 || o.Backup.Status.Error != nil {
		t.Fatalf("the second attempt: %+v", o.Backup.Status)
	}
	at := metav1.NewTime(now)
	succeeded := apply(func(o *Observation) {
		o.Location = "" // the BackupStore was renamed since the start
		o.Nodes[2].Upgrade = &cluster.Upgrade{}
		o.Nodes[2].Upgrade.Status.Backup = &refitv1alpha1.NodeBackupStatus{UID: "b-uid", Attempt: 2, Phase: refitv1alpha1.BackupSucceeded}
		o.Nodes[2].Upgrade.Status.Backup.ReadBack, o.Nodes[2].Upgrade.Status.Backup.Digest = &at, "sha256:"+strings.Repeat("e", 64)
	})
	if succeeded.Kind != Finish || !o.Backup.HasEnded() || o.Backup.Status.Object != "prod/b-uid/2/manifest-"+strings.Repeat("e", 64)+".json" {
		t.Errorf("after the success: %+v", o.Backup.Status)
	}
	if o.Backup.Status.Location != "/mnt/backups" {
		t.Errorf("the location is %q", o.Backup.Status.Location)
	}
	is(refitv1alpha1.ConditionReady, metav1.ConditionTrue)
	is(refitv1alpha1.ConditionReconciling, metav1.ConditionFalse)
	if !MarkDeleted(o.Backup, ID(o.Backup), now) || MarkDeleted(o.Backup, ID(o.Backup), now.Add(time.Hour)) || apply().Kind != Nothing {
		t.Errorf("after retention has deleted it: %+v", o.Backup.Status)
	}
	is(refitv1alpha1.ConditionReady, metav1.ConditionFalse)
	is(refitv1alpha1.ConditionReconciling, metav1.ConditionFalse)
	is(refitv1alpha1.ConditionStalled, metav1.ConditionFalse)
}

func TestMessageOfASucceededBackup(t *testing.T) {
	at := metav1.NewTime(now)
	hop := refitv1alpha1.RehearsedHop{Kubernetes: "v1.36.3"}
	broken := refitv1alpha1.RehearsedHop{Kubernetes: "v1.36.3", Findings: []refitv1alpha1.RehearsalFinding{{}}, MoreFindings: 2}
	for want, result := range map[string]refitv1alpha1.BackupResult{
		"The backup is stored and was read back":                  {ReadBack: &at},
		"The backup is stored, read back and restored in a drill": {ReadBack: &at, Drilled: &at},
		"The backup is stored, read back and restored in a drill; v1.36.3 runs on its data": {
			ReadBack: &at, Drilled: &at, Rehearsed: []refitv1alpha1.RehearsedHop{hop},
		},
		"The backup is stored, read back and restored in a drill; the rehearsal has 3 findings in status.rehearsed": {
			ReadBack: &at, Drilled: &at, Rehearsed: []refitv1alpha1.RehearsedHop{hop, broken},
		},
	} {
		if got := succeeded(&refitv1alpha1.EtcdBackupStatus{BackupResult: result}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOtherBackupsWaitForTheControlPlane(t *testing.T) {
	operation := func(phase refitv1alpha1.Phase, done int32) *refitv1alpha1.ClusterUpgrade {
		u := &refitv1alpha1.ClusterUpgrade{}
		u.Name, u.Status.Phase = "op", phase
		u.Status.Plan = &refitv1alpha1.PlanSummary{Stages: []refitv1alpha1.StageSummary{{Name: refitv1alpha1.StageControlPlane, Total: 3, Done: done}}}
		return u
	}
	for situation, test := range map[string]struct {
		operation *refitv1alpha1.ClusterUpgrade
		of        string // the operation that the backup belongs to
		waits     bool
	}{
		"the control plane is upgraded":                      {operation(refitv1alpha1.PhaseRunning, 1), "", true},
		"the backup is that of the operation":                {operation(refitv1alpha1.PhaseRunning, 1), "op", false},
		"workers are upgraded":                               {operation(refitv1alpha1.PhaseRunning, 3), "", false},
		"the operation waits for its user":                   {operation(refitv1alpha1.PhaseStalled, 1), "", false},
		"the operation has no plan yet, and changes nothing": {&refitv1alpha1.ClusterUpgrade{}, "", false},
	} {
		t.Run(situation, func(t *testing.T) {
			o := Observation{Backup: &refitv1alpha1.EtcdBackup{}, Now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)}
			o.Backup.Spec.Operation = test.of
			if Upgrading(test.operation) {
				o.Upgrading = test.operation.Name
			}
			a := Next(&o)
			if waits := a.Wait != nil && a.Wait.Reason == ReasonUpgradeInProgress; waits != test.waits {
				t.Errorf("it waits for the operation: %v, want %v", waits, test.waits)
			}
		})
	}
}

func TestOpenRequestForAReportStaysAsItIs(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	n := cluster.Node{ControlPlane: true, ReportRequest: now.Add(-time.Hour).Unix(), Report: &refitv1alpha1.NodeReportStatus{}}
	if ReportDue(&n, now) {
		t.Error("the request of a silent agent is renewed, so it never counts as silent")
	}
	n.Report.Answered = n.ReportRequest
	if !ReportDue(&n, now) {
		t.Error("a report of an hour ago is not requested again")
	}
}

// TestNoSuitableNodeStallsAfterAWhile counts from the creation or from the end of the last attempt:
// reports are requested first, and agents answer within seconds.
func TestNoSuitableNodeStallsAfterAWhile(t *testing.T) {
	for situation, test := range map[string]struct {
		created, failed time.Duration // ago
		clock           time.Duration // how far the clock of the failed host is ahead
		stalled         bool
	}{
		"it was just created":                             {time.Minute, 0, 0, false},
		"it was created some time ago":                    {3 * time.Minute, 0, 0, true},
		"an attempt of hours has just failed":             {3 * time.Hour, time.Minute, 0, false},
		"an attempt has failed some time ago":             {3 * time.Hour, 3 * time.Minute, 0, true},
		"it failed on a host whose clock is ahead":        {3 * time.Hour, 3 * time.Minute, 24 * time.Hour, true},
		"it has just failed on one whose clock is behind": {3 * time.Hour, time.Minute, -24 * time.Hour, false},
	} {
		t.Run(situation, func(t *testing.T) {
			o := observed(func(o *Observation) { o.Nodes = o.Nodes[:1] })
			o.Backup.CreationTimestamp = metav1.NewTime(now.Add(-test.created))
			if test.failed > 0 {
				started, ended := metav1.NewTime(now.Add(-test.created)), now.Add(-test.failed)
				o.Backup.Status.StartTime, o.Backup.Status.Attempt = &started, 1
				Apply(o.Backup, &Action{Kind: EndAttempt, Failure: &refitv1alpha1.BackupError{At: metav1.NewTime(ended.Add(test.clock))}}, ended)
			}
			if a := Next(o); a.Wait == nil || a.Wait.Reason != ReasonNoSuitableNode || a.Wait.Stalled != test.stalled {
				t.Errorf("it waits for %+v, want stalled: %t", a.Wait, test.stalled)
			}
		})
	}
}
