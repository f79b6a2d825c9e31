package restore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
	return r.own(r.beside("new"))
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
	for _, component := range []string{kubeadm.APIServer, kubeadm.Etcd} {
		if exists(r.live(component)) {
			if err := r.park(ctx, component); err != nil {
				return err
			}
		}
	}
	restored := filepath.Join(r.beside("new"), "member")
	if !exists(restored) && r.Plan.Situation != restore.Replace {
		if exists(r.member()) {
			return nil // moved before an interruption
		}
		return node.HostBroken("DataLost", nil, "Remove the restore in "+r.RunDir(r.Plan.Run)+", then restore again",
			"the restored data in %s is gone", r.beside("new"))
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
	return durable.Explain(durable.RenameNew(restored, r.member()), "move", restored)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
