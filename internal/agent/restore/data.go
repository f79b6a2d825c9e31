package restore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// beside is the directory of this run within etcd's data directory, which may be a mount point:
// only within it, renaming is atomic. etcd ignores it.
func (r *Restore) beside(name ...string) string {
	return filepath.Join(append([]string{r.Plan.DataDir, "refit-restore-" + r.Plan.Run.String()}, name...)...)
}

// OldData is where the data of before the restore is kept.
func (r *Restore) OldData() string { return r.beside("old") }

func (r *Restore) member() string { return filepath.Join(r.Plan.DataDir, "member") }

// marked is the file that identifies restored data. It moves with the data: without it, old and
// restored data look the same after something else has deleted either. etcd ignores it.
func (r *Restore) marked(member string) string {
	return filepath.Join(member, "refit-restore-"+r.Plan.Run.String())
}

// newInPlace reports whether the data in place is the restored one.
func (r *Restore) newInPlace() bool { return exists(r.marked(r.member())) }

// restored is the restored data until it is moved into its place.
func (r *Restore) restored() string { return filepath.Join(r.beside("new"), "member") }

// restoreData restores the snapshot beside the data. Leftovers of an interrupted run are removed
// first.
func (r *Restore) restoreData(ctx context.Context) error {
	if err := os.RemoveAll(r.beside("new")); err != nil {
		return durable.Explain(err, "remove", r.beside("new"))
	}
	if err := durable.MkdirAll(r.beside(), 0o700); err != nil {
		return err
	}
	err := r.Machine.Etcdutl(ctx, rehearsal.Etcdutl{
		Image: r.Plan.EtcdImage, Snapshot: r.Snapshot(r.Plan.Run), Dir: r.beside(),
		Args: func(snapshot, dir string) []string {
			return restore.Snapshot(r.Plan, snapshot, dir+"/new")
		},
	})
	if err != nil {
		return err
	}
	if err := r.own(r.beside("new")); err != nil {
		return err
	}
	return durable.WriteFile(r.marked(r.restored()), nil, 0o600) // last: the data is complete
}

// own gives restored files the owner of the data directory, and writes them to the disk.
func (r *Restore) own(dir string) error {
	info, err := os.Stat(r.Plan.DataDir)
	if err != nil {
		return err
	}
	owner := durable.OwnerOf(info)
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := os.Lchown(path, owner.UID, owner.GID); err != nil { //nolint:gosec // only root writes there
			return err
		}
		if entry.IsDir() {
			return durable.SyncDir(path)
		}
		return durable.SyncFile(path)
	})
}

// moveData moves the old data aside and the restored data into its place. After an interruption,
// something else may have moved the manifests back.
func (r *Restore) moveData(ctx context.Context) error {
	if exists(r.live(kubeadm.APIServer)) {
		if err := r.stopAPIServer(ctx); err != nil {
			return err
		}
	}
	if exists(r.live(kubeadm.Etcd)) {
		if err := r.stopEtcd(ctx); err != nil {
			return err
		}
	}
	if r.newInPlace() {
		return nil // moved before an interruption
	}
	if err := r.awaitUnlocked(ctx); err != nil {
		return err
	}
	if r.Plan.Situation != restore.Replace && !exists(r.marked(r.restored())) {
		if err := r.restoreAgain(ctx); err != nil {
			return err
		}
	}
	if exists(r.member()) {
		if err := durable.MkdirAll(r.beside(), 0o700); err != nil {
			return err
		}
		if err := durable.RenameNew(r.member(), r.OldData()); err != nil {
			return durable.Explain(err, "move aside", r.member())
		}
	}
	r.point("move-data/aside")
	if r.Plan.Situation == restore.Replace {
		return nil
	}
	return durable.Explain(durable.RenameNew(r.restored(), r.member()), "move", r.restored())
}

// restoreAgain restores the data again after something else has deleted it.
func (r *Restore) restoreAgain(ctx context.Context) error {
	if !exists(r.Snapshot(r.Plan.Run)) {
		return node.ManualIntervention("DataLost", nil, "Cancel the restore (`refit-agent restore --cancel --yes`), then restore again",
			"the restored data in %s and its snapshot are gone", r.beside("new"))
	}
	r.Progress("the restored data in " + r.beside("new") + " is gone: restoring it again")
	return r.restoreData(ctx)
}

// exists reports whether there is a file, or may be one. There is none in a file: a damaged data
// directory may be one.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR)
}
