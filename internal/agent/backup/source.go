package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
)

// open opens a BackupStore of the cluster that this host allows.
func (c *Cluster) open(ctx context.Context, name string) (*refitv1alpha1.BackupStore, enginebackup.Target, error) {
	found, err := c.BackupStore(ctx, name)
	if err != nil {
		return nil, enginebackup.Target{}, err
	}
	pins, err := ReadPins(c.PinsFile)
	if err != nil {
		return nil, enginebackup.Target{}, err
	}
	if err := pins.Check(&found.Spec); err != nil { // credentials go to no other server
		return nil, enginebackup.Target{}, fmt.Errorf("BackupStore %s: %w", name, err)
	}
	var credentials store.Credentials
	if found.Spec.Credentials != "" {
		if credentials, err = c.Credentials(ctx, found.Spec.Credentials); err != nil {
			return nil, enginebackup.Target{}, err
		}
	}
	opened, err := store.Open(&found.Spec, credentials)
	return found, enginebackup.Target{Store: opened, Prefix: found.Spec.Prefix}, err
}

// OpenWithoutAPI opens a store with the pins and the credentials of this host only.
func OpenWithoutAPI(spec *refitv1alpha1.BackupStoreSpec, pinsFile, credentialsDir string) (enginebackup.Target, error) {
	pins, err := ReadPins(pinsFile)
	if err != nil {
		return enginebackup.Target{}, err
	}
	if err := pins.Check(spec); err != nil { // credentials go to no other server
		return enginebackup.Target{}, fmt.Errorf("the BackupStore is not allowed: %w", err)
	}
	var credentials store.Credentials
	if spec.Credentials != "" {
		credentials, err = readCredentials(credentialsDir, spec.Credentials)
		if errors.Is(err, fs.ErrNotExist) {
			return enginebackup.Target{}, missing(credentialsDir, spec.Credentials, nil)
		}
		if err != nil {
			return enginebackup.Target{}, err
		}
	}
	opened, err := store.Open(spec, credentials)
	return enginebackup.Target{Store: opened, Prefix: spec.Prefix}, err
}
