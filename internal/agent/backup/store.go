package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// store stores the parts and the manifest. Each is read back before the next one is written.
func (a *Attempt) store(ctx context.Context) error {
	stored, err := enginebackup.Store(ctx, a.target, enginebackup.Request{
		ID: a.id(), ClusterUID: a.clusterUID, Time: time.Now(), EtcdVersion: a.version, Recipients: a.spec.Recipients, Drill: a.drillKey(),
		Revision: func() int64 { return a.status.Revision },
		Sources: []enginebackup.Source{
			{Part: backup.PartEtcd, Write: a.writeSnapshot, Check: a.checkSnapshot},
			{Part: backup.PartHost, Write: a.writeHostFiles},
		},
	})
	if err != nil {
		return err
	}
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	a.status.Digest, a.status.Uploaded, a.status.ReadBack = stored.Digest, &now, &now
	a.record()
	a.manager.report(a.status)
	return nil
}

// drillKey is the key that also decrypts the backup, nil without a drill.
func (a *Attempt) drillKey() *seal.DrillKey {
	if a.trial == nil {
		return nil
	}
	return a.trial.key
}

// writeSnapshot streams etcd's snapshot to the disk and to the store. It ends only after the digest
// of etcd was verified, so that a truncated or changed snapshot is never stored as a whole.
func (a *Attempt) writeSnapshot(ctx context.Context, to enginebackup.Sink) error {
	if err := a.begin(ctx, stepSnapshot); err != nil {
		return err
	}
	stream, err := a.member.Snapshot(ctx)
	if err != nil {
		return node.Transient("SnapshotFailed", err, "Check the log of etcd on this host: `crictl logs`", "etcd does not return a snapshot")
	}
	defer stream.Close()
	a.content.Size, err = a.tee(stream, to)
	if errors.Is(err, etcd.ErrSnapshotInvalid) {
		return invalid(err)
	}
	return err
}

// checkSnapshot reads the copy on disk. Only a drill needs the copy afterwards.
func (a *Attempt) checkSnapshot(ctx context.Context) error {
	size := a.content.Size
	a.manager.Log.Info("snapshot is stored and is read back", "name", a.ref.Name, "attempt", a.ref.Attempt, "bytes", size)
	content, err := etcd.ReadDatabase(ctx, a.slot.snapshot())
	if err != nil {
		return invalid(err)
	}
	content.Size = size
	a.content = content
	a.status.Revision, a.status.Keys, a.status.Size, a.status.Hash = content.Revision, content.Keys, content.Size, fmt.Sprintf("%x", content.Hash)
	if a.trial == nil {
		_ = durable.Remove(a.slot.snapshot()) // it is tried again at the end, which reports an error
	}
	return nil
}

func invalid(err error) error {
	return node.Transient("SnapshotInvalid", err, "Check the log of etcd on this host: `crictl logs`", "etcd's snapshot is not valid")
}

// tee writes the stream to the copy on disk and to the store, and returns the size of the database.
// The digest that etcd sends is that of the bytes which the store gets: they are hashed once.
func (a *Attempt) tee(stream io.Reader, to enginebackup.Sink) (int64, error) {
	path := a.slot.snapshot()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, durable.Explain(err, "create", path)
	}
	defer file.Close()
	size, err := etcd.CopySnapshot(io.MultiWriter(explained{file, path}, to), stream, func() string { return to.Written().Digest })
	if err != nil {
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, durable.Explain(err, "write", path)
	}
	return size, nil
}

// explained is a file whose errors name the disk as the cause, and not the store.
type explained struct {
	file *os.File
	path string
}

func (e explained) Write(p []byte) (int, error) {
	n, err := e.file.Write(p)
	if err != nil {
		err = durable.Explain(err, "write", e.path)
	}
	return n, err
}

// writeHostFiles writes the archive of the host's files.
func (a *Attempt) writeHostFiles(ctx context.Context, to enginebackup.Sink) error {
	if err := a.begin(ctx, stepHostFiles); err != nil {
		return err
	}
	if err := a.manager.Environment.HostFiles(to); err != nil {
		return node.ManualIntervention("HostFilesUnreadable", err, "Check the files in /etc/kubernetes and those that flags of the API server name",
			"cannot read the files of the host")
	}
	return a.begin(ctx, stepManifest) // it follows once this part was read back
}
