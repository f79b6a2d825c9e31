package backup

import (
	"context"
	"fmt"

	"filippo.io/age"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Verify reads the stored backup of an EtcdBackup and compares it with its recorded digest. With
// identities it also decrypts every part.
func (c *Cluster) Verify(ctx context.Context, name string, identities []age.Identity) (*backup.Manifest, error) {
	request, err := c.EtcdBackup(ctx, name)
	if err != nil {
		return nil, err
	}
	if request.Status.Digest == "" || request.Status.ReadBack == nil {
		return nil, fmt.Errorf("EtcdBackup %s has not succeeded", name)
	}
	found, err := c.BackupStore(ctx, request.Spec.Store)
	if err != nil {
		return nil, err
	}
	pins, err := ReadPins(c.PinsFile)
	if err != nil {
		return nil, err
	}
	if err := pins.Check(&found.Spec); err != nil { // credentials go to no other server
		return nil, fmt.Errorf("BackupStore %s: %w", found.Name, err)
	}
	var credentials store.Credentials
	if found.Spec.Credentials != "" {
		if credentials, err = c.Credentials(ctx, found.Spec.Credentials); err != nil {
			return nil, err
		}
	}
	opened, err := store.Open(&found.Spec, credentials)
	if err != nil {
		return nil, err
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := enginebackup.Verify(ctx, enginebackup.Target{Store: opened, Prefix: found.Spec.Prefix}, backup.Expected{
		ID:         backup.ID{UID: string(request.UID), Attempt: int(request.Status.Attempt)},
		ClusterUID: uid, ManifestDigest: request.Status.Digest,
	}, identities)
	return stored.Manifest, err
}
