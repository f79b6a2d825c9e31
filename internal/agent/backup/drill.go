package backup

import (
	"context"
	"fmt"
	"os"
	"time"

	"filippo.io/age"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
	core "github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// trial is what a drill and a rehearsal need.
type trial struct {
	// key decrypts this backup. It exists only in memory.
	key    *seal.DrillKey
	image  string // of the etcd that runs
	runner Runner
	hops   []rehearsal.Hop
}

// checkTrial requires that this host can run a drill, before a snapshot of many GB is taken for it.
func (a *Attempt) checkTrial(ctx context.Context) (err error) {
	if a.request.Drill == "" || a.request.Drill == refitv1alpha1.DrillNone {
		return nil
	}
	a.trial = &trial{}
	if a.trial.key, err = seal.NewDrillKey(); err != nil {
		return err
	}
	environment := a.manager.Environment
	if a.trial.image, err = environment.EtcdImage(ctx, a.version); err != nil {
		return err
	}
	observer := rehearsal.Observer{Progress: a.progress, Drilled: func(core.Figures) error { return a.drilled(ctx) }, Rehearsed: a.rehearsed}
	if a.trial.runner, err = environment.Runner(ctx, observer); err != nil {
		return err
	}
	if err := a.trial.runner.CanMount(); err != nil || len(a.request.Hops) == 0 {
		return err
	}
	return a.trial.runner.Fits(a.size)
}

// drill proves the stored backup: it is decrypted, restored and compared. Then the hops run on the
// restored data.
func (a *Attempt) drill(ctx context.Context) error {
	if a.trial == nil {
		return nil
	}
	if err := a.begin(ctx, stepDrill); err != nil {
		return err
	}
	if err := a.decryptStored(ctx); err != nil {
		return err
	}
	_, err := a.trial.runner.Rehearse(ctx, rehearsal.Backup{
		File: a.slot.snapshot(), EtcdImage: a.trial.image,
		Expected: core.Figures{
			Revision: a.content.Revision, Hash: a.content.Hash, Entries: a.content.Keys, EntriesHash: a.content.EntriesHash,
		},
	}, a.trial.hops)
	return err
}

// decryptStored reads the whole backup from the store, as a restore would, and decrypts it with the
// key of the drill. The copy on disk, which is restored, must be what was decrypted.
func (a *Attempt) decryptStored(ctx context.Context) error {
	a.waits("reading the stored backup and decrypting it")
	expected := backup.Expected{ID: a.id(), ClusterUID: a.clusterUID, ManifestDigest: a.status.Digest}
	stored, err := enginebackup.Verify(ctx, a.target, expected, []age.Identity{a.trial.key.Identity()})
	if err != nil {
		return err
	}
	part, ok := stored.Manifest.Part(backup.PartEtcd)
	if !ok {
		return fmt.Errorf("%w: it has no %s", backup.ErrIncomplete, backup.PartEtcd)
	}
	file, err := os.Open(a.slot.snapshot())
	if err != nil {
		return err
	}
	defer file.Close()
	defer context.AfterFunc(ctx, func() { _ = file.Close() })() // ends the read
	switch onDisk, err := seal.Measure(file, part.Plain.Size); {
	case err != nil:
		return err
	case onDisk != part.Plain:
		return node.HostBroken("SnapshotChanged", nil, "Check the disk of this host (`dmesg`)",
			"the copy of the snapshot on this host is not what was stored")
	}
	return nil
}

// progress reports what the drill or the rehearsal waits for, and for how long at most.
func (a *Attempt) progress(p rehearsal.Progress) {
	a.waits(fmt.Sprintf("%s (at most %s)", p.Message, p.Timeout))
}

// drilled records that the restored backup is the one that was taken.
func (a *Attempt) drilled(ctx context.Context) error {
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	a.status.Drilled = &now
	a.manager.Log.Info("backup restored in a drill", "uid", a.ref.UID, "attempt", a.ref.Attempt, "revision", a.content.Revision, "keys", a.content.Keys)
	if len(a.trial.hops) == 0 {
		a.manager.report(a.status)
		return nil
	}
	return a.begin(ctx, stepRehearse)
}
