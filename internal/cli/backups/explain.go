package backups

import (
	"errors"
	"fmt"

	"filippo.io/age"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// explain adds a remedy to an error about a store or a backup in it.
func explain(err error, s *refitv1alpha1.BackupStore) error {
	if failure, ok := errors.AsType[*node.Failure](err); ok {
		return fmt.Errorf("%w. %s", err, failure.Remedy)
	}
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return fmt.Errorf("%w. Use an identity of one of its recipients", err)
	}
	switch {
	case errors.Is(err, backup.ErrDenied):
		return fmt.Errorf("%w. Check the credentials of BackupStore %s and their permissions", err, s.Name)
	case errors.Is(err, backup.ErrUnreachable):
		return fmt.Errorf("%w. Check that this machine reaches %s", err, etcdbackup.Location(&s.Spec))
	case errors.Is(err, backup.ErrFormat):
		return fmt.Errorf("%w. Use the version of Refit that has taken the backup", err)
	case s.Spec.Path != nil && (errors.Is(err, backup.ErrAbsent) || errors.Is(err, backup.ErrNotFound)):
		return fmt.Errorf("%w. Check that --path is the directory of BackupStore %s on the host that took the backup. If it is, retention has deleted it",
			err, s.Name)
	case errors.Is(err, backup.ErrIncomplete), errors.Is(err, backup.ErrCorrupt), errors.Is(err, backup.ErrOther), errors.Is(err, backup.ErrNotFound):
		return fmt.Errorf("%w. Do not rely on this backup, and create another one", err)
	}
	return err
}
