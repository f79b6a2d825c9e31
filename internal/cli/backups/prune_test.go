package backups

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

const leftoverUID = "0a1b2c3d-0000-4000-8000-00000000000c"

func (b *bed) pruner() *Pruner {
	return &Pruner{
		Access: Access{Path: b.dir}, Store: "local", Yes: true, Host: "cp-2", Now: func() time.Time { return time.Now().Add(48 * time.Hour) }, Changing: func() {},
	}
}

// names returns the attempts of a plan.
func names(all []cliv1alpha1.StoredAttempt) []string {
	var out []string
	for _, a := range all {
		out = append(out, a.UID)
	}
	return out
}

// leave leaves a part of an interrupted upload in the store.
func (b *bed) leave(t *testing.T) {
	t.Helper()
	if err := b.target(t).Store.Put(t.Context(), backup.Key("prod", backup.ID{UID: leftoverUID, Attempt: 1}, backup.PartEtcd), strings.NewReader("a part")); err != nil {
		t.Fatal(err)
	}
}

func TestPruneDeletesWhatTheStoreDoesNotKeep(t *testing.T) {
	b := newBed(t)
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
	b.leave(t)
	p := b.pruner()
	p.DryRun = true
	plan, err := p.Prune(t.Context(), b, "prod")
	if err != nil || !slices.Equal(names(plan.Stores[0].Expired), []string{earlierUID, leftoverUID}) || plan.Stores[0].Kept != 1 || plan.Deleted() != 0 {
		t.Fatalf("dry run: %+v, %v", plan, err)
	}
	if _, err := os.Stat(b.manifest("earlier")); err != nil {
		t.Fatalf("a dry run deletes: %v", err)
	}
	p.DryRun = false
	if plan, err = p.Prune(t.Context(), b, "prod"); err != nil || plan.Deleted() != 2 {
		t.Fatalf("%+v, %v", plan, err)
	}
	left, err := enginebackup.List(t.Context(), b.target(t))
	if err != nil || len(left) != 1 || left[0].ID.UID != nightlyUID {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// A deleted backup must not look like one that can be restored.
func TestPruneMarksWhatItDeletes(t *testing.T) {
	b := newBed(t)
	b.store.Spec.Keep, b.denied = &refitv1alpha1.BackupRetention{Last: 1}, errors.New("forbidden")
	b.store.Spec.Path.Directory = b.dir
	if plan, err := b.pruner().Prune(t.Context(), b, "prod"); !errors.Is(err, b.denied) || plan.Deleted() != 0 || b.objects(t) != 6 {
		t.Errorf("deleted what cannot be marked: %+v, %v, %d objects are left", plan, err, b.objects(t))
	}
	b.denied = nil
	if plan, err := b.pruner().Prune(t.Context(), b, "prod"); err != nil || plan.Deleted() != 1 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if b.backups["earlier"].Status.Deleted == nil || b.backups["nightly"].Status.Deleted != nil {
		t.Errorf("marked: earlier %v, nightly %v", b.backups["earlier"].Status.Deleted, b.backups["nightly"].Status.Deleted)
	}
	v := &Verifier{Access: Access{Path: b.dir}, Now: time.Now, Report: func(int64, int64) {}}
	if _, err := v.Verify(t.Context(), b, "prod", "earlier"); err == nil || !strings.Contains(err.Error(), "retention deleted earlier") {
		t.Errorf("verify: %v", err)
	}
}

// An attempt without an EtcdBackup needs no mark, but nothing at all is deleted.
func TestPruneDeletesNothingWithoutThePermissionToMark(t *testing.T) {
	b := newBed(t)
	b.store.Spec.Keep, b.forbidden = &refitv1alpha1.BackupRetention{Last: 1}, errors.New("forbidden")
	b.store.Spec.Path.Directory = b.dir
	b.leave(t)
	p := b.pruner()
	p.Yes, p.MayAsk = false, func() error { return nil }
	p.Ask = func(context.Context, *cliv1alpha1.BackupPruning) error {
		t.Error("it prompts for what it cannot do")
		return nil
	}
	if _, err := p.Prune(t.Context(), b, "prod"); !errors.Is(err, b.forbidden) || b.objects(t) != 7 {
		t.Errorf("%v, %d objects are left", err, b.objects(t))
	}
	b.store.Spec.Path.Directory = "/var/lib/refit-backups"
	p.Yes = true
	if plan, err := p.Prune(t.Context(), b, "prod"); err != nil || plan.Deleted() != 2 {
		t.Errorf("a copy: %+v, %v", plan, err)
	}
}

// A mark would make the next run delete the original.
func TestPruneOfACopyMarksNothing(t *testing.T) {
	for situation, change := range map[string]func(b *bed, p *Pruner){
		"at another path":                func(*bed, *Pruner) {},
		"on another machine":             func(_ *bed, p *Pruner) { p.Host = "laptop" },
		"on a machine without a name":    func(_ *bed, p *Pruner) { p.Host = "" },
		"beside a backup that is marked": func(b *bed, _ *Pruner) { b.backups["nightly"].Status.Deleted = &metav1.Time{Time: testNow} },
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
			p := b.pruner()
			change(b, p)
			plan, err := p.Prune(t.Context(), b, "prod")
			if err != nil || plan.Deleted() != 1 || !slices.Equal(plan.Stores[0].Unmarked, []string{"earlier"}) {
				t.Fatalf("%+v, %v", plan, err)
			}
			if b.backups["earlier"].Status.Deleted != nil {
				t.Error("the EtcdBackup is marked")
			}
		})
	}
}

// Hosts may share the directory, or each has its own and copies of others.
func TestPruneLeavesTheBackupsOfOtherHostsInTheDirectoryOfTheStore(t *testing.T) {
	for situation, host := range map[string]string{"another node": "cp-1", "a machine whose name is not that of its node": "cp-2.example.com", "no name": ""} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.store.Spec.Keep, b.store.Spec.Path.Directory = &refitv1alpha1.BackupRetention{Last: 1}, b.dir
			p := b.pruner()
			p.Host = host
			plan, err := p.Prune(t.Context(), b, "prod")
			if err != nil || plan.Deleted() != 0 || b.objects(t) != 6 || b.backups["earlier"].Status.Deleted != nil {
				t.Fatalf("%+v, %v, %d objects are left", plan, err, b.objects(t))
			}
			left := plan.Stores[0].LeftAlone
			if len(left) != 1 || left[0].Backup != "earlier" || !strings.Contains(left[0].Problem, "cp-2 has taken it. Run `refit-agent backup prune local --yes` there") {
				t.Errorf("left alone: %+v", left)
			}
			b.backups["earlier"].Status.Deleted = &metav1.Time{Time: testNow} // by cp-2
			if plan, err = p.Prune(t.Context(), b, "prod"); err != nil || plan.Deleted() != 1 || b.objects(t) != 3 {
				t.Errorf("after cp-2 has marked it: %+v, %v, %d objects are left", plan, err, b.objects(t))
			}
		})
	}
}

// Two BackupStores may share a location, and a bucket may be a replica of that of another one.
func TestPruneMarksTheBackupsOfTheSameLocation(t *testing.T) {
	for situation, test := range map[string]struct {
		directory string // of the BackupStore in the EtcdBackups; empty if it is the same
		renamed   bool   // that BackupStore is gone
		marked    bool
	}{
		"another BackupStore with the location": {"", false, true},
		"a replica":                             {"/mnt/original", false, false},
		"a renamed BackupStore":                 {"", true, true},
		"a replica of a renamed BackupStore":    {"/mnt/original", true, false},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.store.Spec.Keep, b.store.Spec.Path.Directory = &refitv1alpha1.BackupRetention{Last: 1}, b.dir
			original := *b.store.DeepCopy()
			original.Name = "original"
			if test.directory != "" {
				original.Spec.Path.Directory = test.directory
			}
			if !test.renamed {
				b.others = []refitv1alpha1.BackupStore{original}
			}
			for _, taken := range b.backups {
				taken.Spec.Store, taken.Status.Location = original.Name, original.Spec.Path.Directory
			}
			b.forbidden = errors.New("forbidden")
			if _, err := b.pruner().Prune(t.Context(), b, "prod"); errors.Is(err, b.forbidden) != test.marked {
				t.Errorf("without the permission to mark: %v", err)
			}
			b.forbidden = nil
			if _, err := b.pruner().Prune(t.Context(), b, "prod"); err != nil || b.objects(t) != 3 {
				t.Errorf("%v, %d objects are left", err, b.objects(t))
			}
			if marked := b.backups["earlier"].Status.Deleted != nil; marked != test.marked {
				t.Errorf("marked: %t", marked)
			}
		})
	}
}

func TestPruneKeeps(t *testing.T) {
	for situation, c := range map[string]struct {
		change func(t *testing.T, b *bed, p *Pruner)
		kept   int
	}{
		"everything without keep": {func(_ *testing.T, b *bed, _ *Pruner) { b.store.Spec.Keep = nil }, 2},
		"what is young enough": {func(_ *testing.T, b *bed, _ *Pruner) {
			b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Age: metav1.Duration{Duration: 10000 * 24 * time.Hour}}
		}, 2},
		"the last good one at any age": {func(_ *testing.T, b *bed, p *Pruner) {
			b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Age: metav1.Duration{Duration: time.Second}}
			p.Now = func() time.Time { return testNow.AddDate(20, 0, 0) }
		}, 1},
		"the last that was drilled": {func(_ *testing.T, b *bed, _ *Pruner) {
			b.backups["earlier"].Status.Drilled = &metav1.Time{Time: testNow}
		}, 2},
		"the last that was drilled, of a BackupStore with another name": {func(_ *testing.T, b *bed, _ *Pruner) {
			b.backups["earlier"].Spec.Store, b.backups["earlier"].Status.Drilled = "former", &metav1.Time{Time: testNow}
		}, 2},
		"what an operation relies on": {func(_ *testing.T, b *bed, _ *Pruner) {
			b.operations = []refitv1alpha1.ClusterUpgrade{{ObjectMeta: metav1.ObjectMeta{UID: "op"}}}
			b.backups["earlier"].Labels = map[string]string{refitv1alpha1.LabelOperation: "op"}
			b.backups["earlier"].Status.Drilled, b.backups["nightly"].Status.Drilled = &metav1.Time{Time: testNow}, &metav1.Time{Time: testNow}
		}, 2},
		"the last one until the drill of the next has ended": {func(_ *testing.T, b *bed, _ *Pruner) {
			b.backups["nightly"].Status.StartTime = &metav1.Time{Time: testNow}
		}, 2},
		"those of another cluster": {func(_ *testing.T, b *bed, _ *Pruner) { b.clusterUID = "11111111-2222-4333-8444-666666666666" }, 0},
		"the good one if the newest is damaged": {func(t *testing.T, b *bed, _ *Pruner) {
			t.Helper()
			rewrite(t, b.path(nightlyUID, backup.PartEtcd), func(text []byte) []byte { return text[1:] })
		}, 1},
		"an upload that may be in progress": {func(t *testing.T, b *bed, p *Pruner) {
			t.Helper()
			b.leave(t)
			b.store.Spec.Keep, p.Now = nil, func() time.Time { return time.Now().Add(23 * time.Hour) }
		}, 2},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
			p := b.pruner()
			c.change(t, b, p)
			before := b.objects(t)
			plan, err := p.Prune(t.Context(), b, "prod")
			if err != nil || plan.Stores[0].Kept != c.kept {
				t.Errorf("%+v, %v", plan, err)
			}
			if attempts, _ := plan.Expired(); before-b.objects(t) != 3*attempts {
				t.Errorf("%d of %d objects are left after %d attempts were deleted", b.objects(t), before, attempts)
			}
		})
	}
}

// objects counts the objects of the store.
func (b *bed) objects(t *testing.T) int {
	t.Helper()
	all, err := b.target(t).Store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestPruneDeletesOnlyWhatTheUserHasSeen(t *testing.T) {
	b := newBed(t)
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
	p := b.pruner()
	p.Yes, p.MayAsk = false, func() error { return nil }
	p.Ask = func(context.Context, *cliv1alpha1.BackupPruning) error { return errors.New("not confirmed") }
	if _, err := p.Prune(t.Context(), b, "prod"); err == nil || b.objects(t) != 6 {
		t.Errorf("%v, %d objects are left", err, b.objects(t))
	}
	p.Ask = func(context.Context, *cliv1alpha1.BackupPruning) error {
		b.leave(t) // it appears meanwhile
		b.backups["earlier"].Status.Drilled = &metav1.Time{Time: testNow}
		return nil
	}
	if plan, err := p.Prune(t.Context(), b, "prod"); err != nil || plan.Deleted() != 0 || b.objects(t) != 7 {
		t.Errorf("%+v, %v, %d objects are left", plan, err, b.objects(t))
	}
	p.MayAsk = func() error { return errors.New("no terminal") }
	if _, err := p.Prune(t.Context(), b, "prod"); err == nil {
		t.Error("it prunes without a terminal")
	}
}

func TestADirectoryOfHostsIsPrunedThere(t *testing.T) {
	b := newBed(t)
	p := b.pruner()
	p.Path = ""
	if _, err := p.Prune(t.Context(), b, "prod"); err == nil || !strings.Contains(err.Error(), "`refit-agent backup prune local` on cp-2 as root") {
		t.Errorf("got %v", err)
	}
	p.Store = ""
	if plan, err := p.Prune(t.Context(), b, "prod"); err != nil || len(plan.Stores) != 1 || !strings.Contains(plan.Stores[0].Skipped, "refit-agent") {
		t.Errorf("%+v, %v", plan, err)
	}
	p.Path = b.dir
	if p.Check() == nil {
		t.Error("a path without a store is accepted")
	}
}

// Retention leaves EtcdBackups, and a bucket may be emptied by others.
func TestEtcdBackupsWithoutObjectsAreListed(t *testing.T) {
	b := newBed(t)
	s := &pruned{store: b.store}
	s.all, _ = b.Backups(t.Context())
	var err error
	if s.listed, err = enginebackup.List(t.Context(), b.target(t)); err != nil {
		t.Fatal(err)
	}
	s.store.Spec.Path, s.store.Spec.S3 = nil, &refitv1alpha1.S3Store{Endpoint: "https://s3.example.com", Bucket: "backups"}
	if got := s.gone(); len(got) != 0 {
		t.Errorf("gone: %v", got)
	}
	s.listed = s.listed[:1]
	if got := s.gone(); !slices.Equal(got, []string{"earlier"}) && !slices.Equal(got, []string{"nightly"}) {
		t.Errorf("gone: %v", got)
	}
	b.store.Spec.Credentials = "offsite"
	b.secrets = map[string]*corev1.Secret{}
	p := b.pruner()
	p.Path = ""
	if _, err := p.Prune(t.Context(), b, "prod"); err == nil || !strings.Contains(err.Error(), "cannot prune BackupStore local: there is no Secret offsite") {
		t.Errorf("got %v", err)
	}
}
