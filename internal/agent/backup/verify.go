package backup

import (
	"context"
	"fmt"
	"time"

	"filippo.io/age"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Verified is a stored backup that is proven.
type Verified struct {
	*backup.Manifest
	Store string
	// IdentityProven is true if the status of the BackupStore records the identity.
	IdentityProven bool
	// Deleted is when the backup was marked as deleted; nil if it is not.
	Deleted *metav1.Time
}

// Verify reads the stored backup of an EtcdBackup and compares it with its recorded digest. With
// identities it also decrypts every part, and records in the BackupStore that they can.
func (c *Cluster) Verify(ctx context.Context, name string, identities []age.Identity) (*Verified, error) {
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
	ring := seal.NewRing(identities)
	if len(identities) > 0 {
		identities = []age.Identity{ring}
	}
	stored, err := enginebackup.Verify(ctx, target, expected, identities)
	if err != nil {
		return nil, etcdbackup.Missing(request, err)
	}
	verified := &Verified{Manifest: stored.Manifest, Store: found.Name, Deleted: request.Status.Deleted}
	if len(identities) > 0 {
		verified.IdentityProven, err = c.proveIdentity(ctx, found.Name, name, ring.Opened(len(stored.Manifest.Parts)))
	}
	return verified, err
}

// proveIdentity records in a BackupStore that the identities of recipients have decrypted a backup.
func (c *Cluster) proveIdentity(ctx context.Context, store, name string, recipients []string) (proven bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*objectTimeout)
	defer cancel()
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current, err := c.BackupStore(ctx, store)
		if err != nil {
			return err
		}
		if proven = backup.Prove(current, name, recipients, time.Now()); !proven {
			return nil
		}
		client, err := c.client(refitv1alpha1.GroupVersion)
		if err != nil {
			return err
		}
		return client.Put().Resource("backupstores").Name(store).SubResource("status").Body(current).Do(ctx).Error()
	})
	if err != nil {
		return false, fmt.Errorf("the backup is verified, but the status of BackupStore %s cannot be written: %w", store, err)
	}
	return proven, nil
}
