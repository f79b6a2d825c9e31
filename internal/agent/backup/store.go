package backup

import (
	"context"
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
			{Part: backup.PartEtcd, Write: a.writeSnapshot},
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

// writeSnapshot streams etcd's snapshot to the disk and to the store. It ends only after the copy
// on disk was verified, so that an invalid snapshot is never stored as a whole.
func (a *Attempt) writeSnapshot(ctx context.Context, to io.Writer) error {
	if err := a.begin(ctx, stepSnapshot); err != nil {
		return err
	}
	stream, err := a.member.Snapshot(ctx)
	if err != nil {
		return node.Transient("SnapshotFailed", err, "Check the log of etcd on this host: `crictl logs`", "etcd does not return a snapshot")
	}
	defer stream.Close()
	if err := a.tee(stream, to); err != nil {
		return err
	}
	content, err := etcd.ReadSnapshot(ctx, a.slot.snapshot())
	if err != nil {
		return node.Transient("SnapshotInvalid", err, "Check the log of etcd on this host: `crictl logs`", "etcd's snapshot is not valid")
	}
	a.content = content
	a.status.Revision, a.status.Keys, a.status.Size, a.status.Hash = content.Revision, content.Keys, content.Size, fmt.Sprintf("%x", content.Hash)
	return nil
}

// tee writes the stream to the copy on disk and to the store.
func (a *Attempt) tee(stream io.Reader, to io.Writer) error {
	path := a.slot.snapshot()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return durable.Explain(err, "create", path)
	}
	defer file.Close()
	if _, err := io.Copy(to, io.TeeReader(stream, explained{file, path})); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return durable.Explain(err, "write", path)
	}
	return nil
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
func (a *Attempt) writeHostFiles(ctx context.Context, to io.Writer) error {
	if err := a.begin(ctx, stepHostFiles); err != nil {
		return err
	}
	if err := a.manager.Environment.HostFiles(to); err != nil {
		return node.ManualIntervention("HostFilesUnreadable", err, "Check the files in /etc/kubernetes and those that flags of the API server name",
			"cannot read the files of the host")
	}
	return a.begin(ctx, stepManifest) // it follows once this part was read back
}
