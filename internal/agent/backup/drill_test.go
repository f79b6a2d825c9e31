package backup

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/node"
	core "github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// drilledBed is a bed whose backup is rehearsed.
func drilledBed(t *testing.T) *bed {
	t.Helper()
	b := newBed(t)
	b.request.Spec.Drill = refitv1alpha1.DrillRehearse
	b.request.Spec.Hops = []refitv1alpha1.ReleaseRef{{Name: "kubernetes-v1.36.3"}}
	return b
}

func TestBackupIsRestoredInADrill(t *testing.T) {
	b := newBed(t)
	b.request.Spec.Drill = refitv1alpha1.DrillRestore
	got := b.take(t, 1)
	if got.Phase != refitv1alpha1.BackupSucceeded || got.Drilled == nil || got.ReadBack == nil || len(got.Rehearsed) > 0 || got.Message != "" {
		t.Fatalf("got %+v, error %+v", got, got.Error)
	}
	progress := slices.ContainsFunc(b.reported, func(s refitv1alpha1.NodeBackupStatus) bool {
		return s.Step == stepDrill && s.ReadBack != nil && s.Drilled == nil && strings.HasPrefix(s.Message, "restoring the backup (at most ")
	})
	if !progress {
		t.Errorf("the drill is not reported: %+v", b.reported)
	}
}

func TestBackupWithoutADrill(t *testing.T) {
	b := newBed(t)
	b.request.Spec.Drill = refitv1alpha1.DrillNone
	if got := b.take(t, 1); got.Phase != refitv1alpha1.BackupSucceeded || got.Drilled != nil || len(b.trials.files) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestHopsAreRehearsedOnTheRestoredData(t *testing.T) {
	b := drilledBed(t)
	got := b.take(t, 1)
	if got.Phase != refitv1alpha1.BackupSucceeded || got.Drilled == nil || len(got.Rehearsed) != 1 {
		t.Fatalf("got %+v, error %+v", got, got.Error)
	}
	if hop := got.Rehearsed[0]; hop.Release.Name != "kubernetes-v1.36.3" || hop.Kubernetes != "v1.36.3" || hop.Resources != 70 || hop.Objects != 308 || hop.WithoutWatchCache {
		t.Errorf("got %+v", hop)
	}
	if left, _ := filepath.Glob(filepath.Join(b.Dir, "*", "*")); len(left) != 1 || b.trials.pinned {
		t.Errorf("files are left: %v, pinned images: %t", left, b.trials.pinned)
	}
}

// A pin that cannot be removed now is removed before the slot of the attempt is.
func TestImagesStayPinnedNoLongerThanContainerdIsDown(t *testing.T) {
	b := drilledBed(t)
	b.trials.unpins = errors.New("containerd is down")
	if got := b.take(t, 1); got.Phase != refitv1alpha1.BackupSucceeded || !b.trials.pinned {
		t.Fatalf("got %+v, pinned %t", got, b.trials.pinned)
	}
	b.trials.unpins = nil
	b.request.Spec.Drill, b.request.Spec.Hops = refitv1alpha1.DrillRestore, nil
	if b.take(t, 2); b.trials.pinned {
		t.Error("the images are still pinned")
	}
}

func TestFindingsOfARehearsalAreNoFailure(t *testing.T) {
	b := drilledBed(t)
	b.request.Spec.Hops = append(b.request.Spec.Hops, refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.37.1"})
	for range refitv1alpha1.MaxRehearsalFindings + 3 {
		b.trials.findings = append(b.trials.findings, core.Finding{
			Reason: core.FlagUnknown, Object: strings.Repeat("o", 500), Message: strings.Repeat("m", 500), Remedy: strings.Repeat("r", 500),
		})
	}
	got := b.take(t, 1)
	if got.Phase != refitv1alpha1.BackupSucceeded || got.Drilled == nil {
		t.Fatalf("got %+v, error %+v", got, got.Error)
	}
	hop := got.Rehearsed[0]
	if len(hop.Findings) != refitv1alpha1.MaxRehearsalFindings || hop.MoreFindings != 3 {
		t.Errorf("it has %d findings and %d more", len(hop.Findings), hop.MoreFindings)
	}
	if second := got.Rehearsed[1]; len(second.Findings) > 0 || second.MoreFindings != int64(len(b.trials.findings)) {
		t.Errorf("the second hop has %d findings and %d more", len(second.Findings), second.MoreFindings)
	}
	first := hop.Findings[0]
	if len([]rune(first.Object)) != refitv1alpha1.MaxRehearsalObject || len([]rune(first.Message)) != refitv1alpha1.MaxMessage || len([]rune(first.Remedy)) != refitv1alpha1.MaxMessage {
		t.Errorf("the API rejects %+v", first)
	}
}

// TestKnownProblemsAreListedFirst has more findings than the result can list: open questions may be
// waived, so they must not hide a problem.
func TestKnownProblemsAreListedFirst(t *testing.T) {
	b := drilledBed(t)
	question, problem := core.Finding{Reason: core.KMSUnavailable, Message: "m", Remedy: "r", Unknown: true}, core.Finding{Reason: core.FlagUnknown, Message: "m", Remedy: "r"}
	b.trials.findings = append(slices.Repeat([]core.Finding{question}, refitv1alpha1.MaxRehearsalFindings+3), problem)
	hop := b.take(t, 1).Rehearsed[0]
	if len(hop.Findings) != refitv1alpha1.MaxRehearsalFindings || hop.Findings[0].Unknown || hop.MoreFindings != 4 || hop.MoreUnknown != 4 {
		t.Errorf("the first of %d findings is %+v; %d more, of which %d are unknown", len(hop.Findings), hop.Findings[0], hop.MoreFindings, hop.MoreUnknown)
	}
}

// A host that could not try the backup is a failure, and no proven backup is deleted for it.
func TestHostThatCannotTryFails(t *testing.T) {
	low := node.ManualIntervention("MemoryLow", nil, "Free memory", "too little memory")
	for situation, tt := range map[string]struct {
		change func(*bed)
		reason string
		stored bool
	}{
		"too little memory": {func(b *bed) { b.trials.low = low }, "MemoryLow", false},
		"no client of containerd": {func(b *bed) {
			b.trials.mount = node.ManualIntervention("CtrMissing", nil, "Install ctr", "it is missing")
		}, "CtrMissing", false},
		"no disk space for the restored copy": {func(b *bed) {
			b.space.Bytes, b.space.Total = uint64(len(b.snapshot))+minFree+100<<20, 1<<30
		}, "DiskFull", false},
		"etcd has another image": {func(b *bed) {
			b.Environment.EtcdImage = func(context.Context, string) (string, error) {
				return "", node.Transient("EtcdImageUnknown", nil, "Wait", "another version")
			}
		}, "EtcdImageUnknown", false},
		"systemd is unreachable": {func(b *bed) {
			b.Environment.Runner = func(context.Context, rehearsal.Observer) (Runner, error) {
				return nil, node.Transient("SystemdUnreachable", nil, "Check systemd", "cannot connect")
			}
		}, "SystemdUnreachable", false},
		"an image is missing": {func(b *bed) {
			b.Environment.Hops = func(context.Context, string, []refitv1alpha1.ReleaseRef, func(string)) ([]rehearsal.Hop, error) {
				return nil, node.ManualIntervention("ImageMissing", nil, "Pull it", "it is missing")
			}
		}, "ImageMissing", false},
		"the rehearsal cannot mount": {func(b *bed) {
			b.trials.fails = node.ManualIntervention("ImageNotMounted", nil, "Check containerd", "cannot mount")
		}, "ImageNotMounted", true},
	} {
		t.Run(situation, func(t *testing.T) {
			b := drilledBed(t)
			tt.change(b)
			got := b.take(t, 1)
			if got.Phase != refitv1alpha1.BackupFailed || got.Error == nil || got.Error.Reason != tt.reason || got.Error.Remedy == "" || got.Drilled != nil {
				t.Fatalf("got %+v, error %+v", got, got.Error)
			}
			if left := b.stored(t); (len(left) > 0) != tt.stored {
				t.Errorf("the store has %d objects", len(left))
			}
		})
	}
}

// A backup that was read back is kept if only its drill could not run, and deleted if it is bad.
func TestBackupIsDeletedOnlyIfItIsBad(t *testing.T) {
	for reason, stored := range map[string]bool{
		"ImageNotMounted": true, "DiskFull": true, "SystemdUnreachable": true, "RehearsalRunning": true, "RequestsFailed": true, "UnitInterrupted": true,
		"BackupCorrupted": false, "BackupDiffers": false, "RestoreFailed": false,
	} {
		t.Run(reason, func(t *testing.T) {
			b := newBed(t)
			b.request.Spec.Drill = refitv1alpha1.DrillRestore
			b.trials.cannot = node.ManualIntervention(reason, nil, "Fix it", "it failed")
			if got := b.take(t, 1); got.Error == nil || got.Error.Reason != reason {
				t.Fatalf("got %+v", got.Error)
			}
			if left := b.stored(t); (len(left) > 0) != stored {
				t.Errorf("the store has %d objects", len(left))
			}
		})
	}
}

// The drill proves what is stored, not what is on the host: whatever changes in the store after the
// backup was read back is noticed.
func TestCorruptedStoredBackupIsNotAccepted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range int64(100) {
		b := newBed(t)
		b.request.Spec.Drill = refitv1alpha1.DrillRestore
		changed := ""
		b.Point = func(name string) {
			if name == "backup-drill/started" {
				changed = corruptStored(t, b, random)
			}
		}
		got := b.take(t, i+1)
		if got.Phase != refitv1alpha1.BackupFailed || got.Error == nil || got.Drilled != nil || len(b.trials.files) > 0 {
			t.Fatalf("%s was accepted: %+v", changed, got)
		}
		if left := b.stored(t); len(left) > 0 {
			t.Errorf("after %s, the store has %d objects", changed, len(left))
		}
	}
}

// corruptStored changes one stored object: a bit, its end, or its content by that of another.
func corruptStored(t *testing.T, b *bed, random *rand.Rand) string {
	t.Helper()
	stored := b.stored(t)
	var names []string
	for name := range stored {
		names = append(names, name)
	}
	slices.Sort(names)
	name := names[random.IntN(len(names))]
	text := []byte(stored[name])
	kind := []string{"a flipped bit", "a truncation", "added bytes", "a swapped object", "a deletion"}[random.IntN(5)]
	path := filepath.Join(b.directory, name)
	switch kind {
	case "a flipped bit":
		text[random.IntN(len(text))] ^= 1 << random.IntN(8)
	case "a truncation":
		text = text[:random.IntN(len(text))]
	case "added bytes":
		text = append(text, byte(random.IntN(256)))
	case "a swapped object":
		text = []byte(stored[names[(slices.Index(names, name)+1)%len(names)]])
	case "a deletion":
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return kind + " of " + name
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return kind + " of " + name
}

func TestChangedCopyOfTheSnapshotIsNotRestored(t *testing.T) {
	b := newBed(t)
	b.request.Spec.Drill = refitv1alpha1.DrillRestore
	b.Point = func(name string) {
		if name == "backup-drill/started" {
			path := filepath.Join(b.Dir, backupUID+"-1", "etcd.db")
			if err := os.Truncate(path, 4096); err != nil {
				t.Error(err)
			}
		}
	}
	if got := b.take(t, 1); got.Error == nil || got.Error.Reason != "SnapshotChanged" || len(b.trials.files) > 0 {
		t.Errorf("got %+v", got)
	}
}

// A kill while units of a drill or a rehearsal run leaves them; the next agent removes them before
// its next attempt.
func TestKilledDrillIsCleanedUp(t *testing.T) {
	for step, message := range map[string]string{stepDrill: "restoring the backup", stepRehearse: "starting kube-apiserver"} {
		t.Run(step, func(t *testing.T) {
			b := drilledBed(t)
			killed := t.TempDir()
			b.trials.during = func(progress string) {
				if progress == message {
					copyTree(t, b.Dir, killed)
				}
			}
			b.take(t, 1)
			b.trials.during, b.trials.units, b.trials.pinned = nil, 2, true
			restarted := b.manager(killed)
			if err := restarted.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := b.last(); got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != "Interrupted" || got.Error.Step != step || got.Drilled != nil || b.trials.pinned {
				t.Fatalf("got %+v, error %+v, pinned images %t", got, got.Error, b.trials.pinned)
			}
			b.Manager = restarted
			if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded || b.trials.cleaned != 1 || b.trials.units != 0 {
				t.Errorf("the next attempt: %+v; %d units are left, cleaned %d times", got.Error, b.trials.units, b.trials.cleaned)
			}
			if left, _ := filepath.Glob(filepath.Join(killed, "*", "*")); len(left) != 1 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}

// The controller withdraws an order that no agent takes within two minutes.
func TestAnAttemptReportsThatItWaitsForLeftovers(t *testing.T) {
	b := drilledBed(t)
	synctest.Test(t, func(t *testing.T) {
		b.Manager = b.manager(t.TempDir())
		cleaned := make(chan struct{})
		b.cleaned = cleaned
		opened, err := b.Open(b.ref(1))
		if err != nil {
			t.Fatal(err)
		}
		b.Run(t.Context(), opened)
		synctest.Wait()
		waits := len(b.reported) == 1 && b.reported[0].Phase == refitv1alpha1.BackupRunning && b.reported[0].Attempt == 1
		if !waits || !strings.HasPrefix(b.reported[0].Message, "removing what an interrupted drill left") {
			t.Errorf("reported %+v", b.reported)
		}
		close(cleaned)
		b.Wait()
	})
}

func TestStoppedDrillKeepsTheBackup(t *testing.T) {
	b := drilledBed(t)
	reached, stopped := make(chan struct{}), make(chan struct{})
	b.trials.during = func(progress string) {
		if progress == "restoring the backup" {
			close(reached)
			<-stopped
		}
	}
	attempt, err := b.Open(b.ref(1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	b.Run(ctx, attempt)
	<-reached
	cancel(errors.New("the agent has the order Hold"))
	close(stopped)
	b.Wait()
	if got := b.last(); got.Phase != refitv1alpha1.BackupFailed || got.Error.Reason != "BackupStopped" || !strings.Contains(got.Error.Message, "Hold") {
		t.Errorf("got %+v", got.Error)
	}
	if len(b.stored(t)) == 0 {
		t.Error("the backup was deleted")
	}
}

// A clock that is behind makes the new backup look like the oldest one.
func TestAnAttemptKeepsItsOwnBackupWhateverTheClock(t *testing.T) {
	b := drilledBed(t)
	b.taken(t, 1)
	b.others = []refitv1alpha1.EtcdBackup{*b.request.DeepCopy()}
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
	synctest.Test(t, func(t *testing.T) { // its clock starts in the year 2000
		b.Manager = b.manager(t.TempDir())
		if got := b.take(t, 2); got.Phase != refitv1alpha1.BackupSucceeded || got.Drilled == nil {
			t.Errorf("got %+v, %+v", got, got.Error)
		}
	})
	if kept := b.attempts(t); !kept["2"] {
		t.Errorf("the agent has deleted the backup that it reports as proven: the store has the attempts %v", kept)
	}
}

// attempts returns the attempts that the store has.
func (b *bed) attempts(t *testing.T) map[string]bool {
	t.Helper()
	kept := map[string]bool{}
	for path := range b.stored(t) {
		kept[strings.Split(path, "/")[2]] = true
	}
	return kept
}

func TestNewestDrilledBackupIsKept(t *testing.T) {
	b := newBed(t)
	b.request.Spec.Drill = refitv1alpha1.DrillRestore
	drilled := b.take(t, 1)
	b.others = []refitv1alpha1.EtcdBackup{{Status: refitv1alpha1.EtcdBackupStatus{BackupResult: drilled.BackupResult}}}
	b.request.Spec.Drill = refitv1alpha1.DrillNone
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1, Age: metav1.Duration{Duration: time.Nanosecond}}
	b.take(t, 2)
	b.take(t, 3)
	kept := b.attempts(t)
	if !kept["1"] || kept["2"] || !kept["3"] {
		t.Errorf("the store has the attempts %v", kept)
	}
}
