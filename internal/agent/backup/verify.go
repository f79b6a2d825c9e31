package backup

import (
	"context"

	"filippo.io/age"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Verify reads the stored backup of an EtcdBackup and compares it with its recorded digest. With
// identities it also decrypts every part.
func (c *Cluster) Verify(ctx context.Context, name string, identities []age.Identity) (*backup.Manifest, error) {
	request, err := c.EtcdBackup(ctx, name)
	if err != nil {
		return nil, err
	}
	found, target, err := c.open(ctx, request.Spec.Store)
	if err != nil {
		return nil, err
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return nil, err
	}
	expected, err := etcdbackup.Expect(request, &found.Spec, uid)
	if err != nil {
		return nil, err
	}
	stored, err := enginebackup.Verify(ctx, target, expected, identities)
	return stored.Manifest, err
}
