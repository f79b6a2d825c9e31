package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Source is a stored backup and who can decrypt it.
type Source struct {
	From       enginebackup.Target
	Expected   backup.Expected
	Identities []age.Identity
	// Directory is that of the store on this host; empty for a bucket.
	Directory string
	// Node is the one that has taken the backup; empty if it is not recorded.
	Node string
	// Deleted is the record of a backup that is marked as deleted. The deletion may have failed.
	Deleted *backup.Record
}

// find finds the backup. A directory may be another one on each host.
func (s Source) find(ctx context.Context) (enginebackup.Stored, error) {
	stored, err := enginebackup.Find(ctx, s.From, s.Expected)
	if !errors.Is(err, backup.ErrIncomplete) && !errors.Is(err, backup.ErrNotFound) {
		return stored, err
	}
	if s.Deleted != nil {
		return stored, deleted(s.Deleted, err)
	}
	from := filepath.Join(s.Directory, s.From.Prefix, s.Expected.ID.UID)
	switch {
	case s.Directory == "":
		err = fmt.Errorf("%w. Retention may have deleted it: `refit-agent restore --list` prints others", err)
	case s.Node == "":
		err = fmt.Errorf("%w. If another control plane host has taken the backup, copy %s from it to the same path on this host", err, from)
	default:
		err = fmt.Errorf("%w. %s has taken the backup: copy %s from it to the same path on this host, unless retention has deleted it", err, s.Node, from)
	}
	return stored, err
}

// Fetch reads a backup into a file, decrypts and verifies it. Nothing of a backup that does not
// verify is left.
func (s Source) Fetch(ctx context.Context, to string) (restore.Backup, error) {
	b, err := s.fetch(ctx, filepath.Dir(to), func(write func(*os.File) error) (string, error) {
		return to, durable.Write(to, durable.Attributes{Mode: 0o600, Owner: durable.Caller}, write)
	})
	if err != nil {
		_ = os.Remove(to)
	}
	return b, err
}

// Verify is Fetch without a file that stays: it writes into one without a name in the directory,
// which ends with the process, even if that is killed.
func (s Source) Verify(ctx context.Context, dir string) (b restore.Backup, err error) {
	var file *os.File
	defer func() {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	return s.fetch(ctx, dir, func(write func(*os.File) error) (string, error) {
		if file, err = os.CreateTemp(dir, ".unconfirmed-"); err != nil {
			return "", err
		}
		if err := os.Remove(file.Name()); err != nil {
			return "", err
		}
		return fmt.Sprintf("/proc/self/fd/%d", file.Fd()), write(file)
	})
}

// fetch reads a backup into the file that create creates in a directory.
func (s Source) fetch(ctx context.Context, dir string, create func(func(*os.File) error) (path string, err error)) (b restore.Backup, err error) {
	stored, err := s.find(ctx)
	if err != nil {
		return b, err
	}
	m := stored.Manifest
	b = s.describe(stored)
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return b, err
	}
	file := ""
	for _, part := range m.Parts {
		switch part.Name {
		case backup.PartEtcd:
			if err = enoughSpace(dir, part); err == nil {
				file, err = create(func(file *os.File) error { return s.copySnapshot(ctx, m, part, file) })
			}
		case backup.PartHost:
			b.CAs, err = s.readCAs(ctx, m, part)
		}
		if err != nil {
			return b, unverified(err, m)
		}
	}
	err = readContent(ctx, file, m, &b)
	return b, err
}

// unverified is the failure to read a part of a backup.
func unverified(err error, m *backup.Manifest) error {
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); !wrong {
		return fmt.Errorf("the backup does not verify: %w", err)
	}
	return node.ManualIntervention("IdentityWrong", nil,
		"Pass the file with the identity of one of these recipients with --identity=FILE. `refit install` writes it to "+etcdbackup.IdentityFile+
			" beside the release key on the machine that runs it, unless it gets --backup-key or --backup-recipient. "+
			"The comment in the file names its recipient",
		"the identity does not decrypt the backup, which is encrypted to %s", strings.Join(m.Recipients, ", "))
}

// describe returns what the manifest of a backup states.
func (s Source) describe(stored enginebackup.Stored) restore.Backup {
	m := stored.Manifest
	return restore.Backup{
		ID: m.ID().String(), Digest: stored.Digest, ClusterUID: m.ClusterUID, Time: m.Time, EtcdVersion: m.EtcdVersion,
		Recorded: s.Expected.ManifestDigest != "",
	}
}

func enoughSpace(dir string, part backup.Part) error {
	free, err := host.Free(dir)
	if err != nil {
		return err
	}
	if needed := uint64(part.Plain.Size) + 256<<20; free.Bytes < needed {
		return node.ManualIntervention("DiskFull", nil, "Free disk space on the file system of "+dir,
			"the snapshot needs %d MiB in %s, and %d MiB are free", needed>>20, dir, free.Bytes>>20)
	}
	return nil
}

func (s Source) copySnapshot(ctx context.Context, m *backup.Manifest, part backup.Part, file *os.File) error {
	return enginebackup.Open(ctx, s.From, m, part, s.Identities, func(plain io.Reader) error {
		_, err := io.Copy(file, plain)
		return err
	})
}

// readContent reads the content of the decrypted snapshot.
func readContent(ctx context.Context, file string, m *backup.Manifest, b *restore.Backup) error {
	content, err := etcd.ReadSnapshot(ctx, file)
	if err != nil {
		return fmt.Errorf("the backup does not verify: %w", err)
	}
	if m.Revision != 0 && m.Revision != content.Revision {
		return fmt.Errorf("the backup does not verify: its snapshot has revision %d, and its manifest %d", content.Revision, m.Revision)
	}
	b.Revision, b.Keys, b.Size = content.Revision, content.Keys, content.Size
	members, err := etcd.SnapshotMembers(file)
	if err != nil {
		return err
	}
	for _, m := range members {
		if !m.Learner {
			b.Members = append(b.Members, restore.Member{Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs})
		}
	}
	if len(b.Members) == 0 {
		return errors.New("the snapshot has no members")
	}
	return nil
}
