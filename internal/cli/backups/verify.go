package backups

import (
	"context"
	"fmt"
	"time"

	"filippo.io/age"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Verifier verifies a stored backup.
type Verifier struct {
	Access
	// Identity is the file of an age identity; empty if there is none.
	Identity string
	ReadFile func(name string) ([]byte, error)
	Now      func() time.Time
	// Report receives how many bytes of all have been read.
	Report func(done, total int64)

	ring *seal.Ring // of the identity
}

// Read reads the identity, before there is a connection to a cluster.
func (v *Verifier) Read() error {
	if v.Identity == "" {
		return nil
	}
	text, err := v.ReadFile(v.Identity)
	if err != nil {
		return fmt.Errorf("cannot read the identity: %w", err)
	}
	identities, err := seal.Identities(string(text))
	if err != nil {
		return fmt.Errorf("cannot read the identity in %s: %w", v.Identity, err)
	}
	v.ring = seal.NewRing(identities)
	return nil
}

// Verify reads the stored backup of an EtcdBackup, compares it with the status of the EtcdBackup,
// and decrypts it if there is an identity. A nil error is the proof: everything else is an error.
func (v *Verifier) Verify(ctx context.Context, c Stores, cluster, name string) (*cliv1alpha1.BackupVerification, error) {
	started := v.Now()
	b, err := c.EtcdBackup(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := c.BackupStore(ctx, b.Spec.Store)
	if err != nil {
		return nil, err
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return nil, err
	}
	expected, err := etcdbackup.Expect(b, &s.Spec, uid)
	if err != nil {
		return nil, explain(err, s)
	}
	if v.elsewhere(s) {
		return nil, v.onHost(b, s)
	}
	stored, err := v.read(ctx, c, s, expected)
	if err != nil {
		return nil, explain(fmt.Errorf("%s is not verified: %w", name, etcdbackup.Missing(b, err)), s)
	}
	result := v.result(cluster, b, s, stored, v.Now().Sub(started))
	v.record(ctx, c, result)
	return result, nil
}

// record records the identity in the BackupStore. The backup is verified without that, too.
func (v *Verifier) record(ctx context.Context, c Stores, result *cliv1alpha1.BackupVerification) {
	if !result.Decrypted {
		return
	}
	proven, err := c.ProveIdentity(ctx, result.Store, result.Backup, result.Recipients)
	switch {
	case err != nil:
		result.NotRecorded = err.Error()
	case !proven:
		result.NotRecorded = "the identity is not that of a recipient of BackupStore " + result.Store + " any more: it cannot decrypt the next backup"
	}
	result.IdentityProven = proven
}

// onHost is the error of a backup that only a host can read.
func (v *Verifier) onHost(b *refitv1alpha1.EtcdBackup, s *refitv1alpha1.BackupStore) error {
	return fmt.Errorf("BackupStore %s is the directory %s on control plane hosts, and %s has stored %s there. "+
		"Run `%s` on %s as root, or mount the directory on this machine and use --path DIRECTORY",
		s.Name, s.Spec.Path.Directory, b.Status.Node, b.Name, hostVerify(b.Name, v.Identity != ""), b.Status.Node)
}

// hostVerify is the command that verifies a backup on its host.
func hostVerify(name string, decrypts bool) string {
	command := "refit-agent backup verify " + name
	if decrypts {
		command += " --identity FILE"
	}
	return command
}

// read reads every byte of the backup.
func (v *Verifier) read(ctx context.Context, c Stores, s *refitv1alpha1.BackupStore, expected backup.Expected) (enginebackup.Stored, error) {
	target, err := v.open(ctx, c, s)
	if err != nil {
		return enginebackup.Stored{}, err
	}
	found, err := enginebackup.Find(ctx, target, expected)
	if err != nil {
		return enginebackup.Stored{}, err
	}
	done, total := int64(0), found.Manifest.StoredSize()
	target.Store = counted{target.Store, func(n int) {
		done += int64(n)
		v.Report(min(done, total), total)
	}}
	var identities []age.Identity
	if v.ring != nil {
		identities = append(identities, v.ring)
	}
	return enginebackup.Verify(ctx, target, expected, identities)
}

// result describes what was proven, and what was not.
func (v *Verifier) result(
	cluster string, b *refitv1alpha1.EtcdBackup, s *refitv1alpha1.BackupStore, stored enginebackup.Stored, took time.Duration,
) *cliv1alpha1.BackupVerification {
	m := stored.Manifest
	out := &cliv1alpha1.BackupVerification{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindBackupVerification, Cluster: cluster,
		Backup: b.Name, Store: s.Name, Location: etcdbackup.Location(&s.Spec), Object: backup.Key(s.Spec.Prefix, m.ID(), backup.ManifestName(stored.Digest)),
		Digest: stored.Digest, Time: m.Time, EtcdVersion: m.EtcdVersion, Revision: m.Revision, Drilled: b.Status.Drilled != nil,
		Decrypted: v.ring != nil, Seconds: int64(took.Seconds()),
	}
	if b.Status.Deleted != nil {
		out.Deleted = b.Status.Deleted.UTC()
	}
	for _, part := range m.Parts {
		out.Parts = append(out.Parts, cliv1alpha1.VerifiedPart{Name: part.Name, Stored: part.Stored.Size, Plain: part.Plain.Size})
	}
	if v.ring != nil {
		out.Recipients = v.ring.Opened(len(m.Parts))
	}
	return out
}
