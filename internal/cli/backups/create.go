package backups

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/following"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// DefaultStore is the BackupStore that `refit install` creates.
const DefaultStore = "local"

// Drills are the values of --drill.
var Drills = []string{"none", "restore", "rehearse"}

// Cluster is a cluster whose etcd is backed up: *operations.Cluster.
type Cluster interface {
	BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error)
	CreateBackup(ctx context.Context, prefix string, spec refitv1alpha1.EtcdBackupSpec) (*refitv1alpha1.EtcdBackup, error)
	FollowBackup(
		ctx context.Context, b *refitv1alpha1.EtcdBackup, report func(b *cliv1alpha1.Backup, now time.Time) error,
	) (*cliv1alpha1.Backup, error)
}

// Creator creates a backup and follows it.
type Creator struct {
	following.Following
	Store, Drill string
	// Report receives the progress.
	Report func(b *cliv1alpha1.Backup, now time.Time) error
}

// Check validates the flags; target is the version to rehearse, empty if there is none.
func (c *Creator) Check(target string) error {
	if err := c.Following.Check(); err != nil {
		return err
	}
	if _, err := c.drill(); err != nil {
		return err
	}
	switch rehearses := strings.EqualFold(c.Drill, "rehearse"); {
	case rehearses && target == "":
		return exit.Usagef("a rehearsal requires a version: use --to VERSION")
	case !rehearses && target != "":
		return exit.Usagef("--to requires --drill rehearse")
	}
	return nil
}

func (c *Creator) drill() (refitv1alpha1.Drill, error) {
	for _, drill := range []refitv1alpha1.Drill{refitv1alpha1.DrillNone, refitv1alpha1.DrillRestore, refitv1alpha1.DrillRehearse} {
		if strings.EqualFold(c.Drill, string(drill)) {
			return drill, nil
		}
	}
	return "", exit.Usagef("--drill: %q is not one of %s", c.Drill, strings.Join(Drills, ", "))
}

// Commands are command lines that lack the name of a backup.
type Commands struct{ Show, Verify, Restore string }

// Create creates a backup and follows it to its end. It returns the last progress. Once the backup
// is stored, it has the next commands.
func (c *Creator) Create(
	ctx context.Context, cluster Cluster, hops []refitv1alpha1.ReleaseRef, commands Commands,
) (*cliv1alpha1.Backup, error) {
	drill, err := c.drill()
	if err != nil {
		return nil, err
	}
	store, err := cluster.BackupStore(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	prefix := "backup"
	if drill == refitv1alpha1.DrillRehearse {
		prefix = "rehearsal"
	}
	created, err := cluster.CreateBackup(ctx, prefix, refitv1alpha1.EtcdBackupSpec{Store: c.Store, Drill: drill, Hops: hops})
	if err != nil {
		return nil, err
	}
	var last *cliv1alpha1.Backup
	err = c.Until(ctx, created.Name, func(ctx context.Context) (err error) {
		last, err = cluster.FollowBackup(ctx, created, func(b *cliv1alpha1.Backup, now time.Time) error {
			commands.add(b, store)
			return c.Report(b, now)
		})
		return err
	}, func() string {
		return fmt.Sprintf("%s continues in the cluster. To see its result: %s %s", created.Name, commands.Show, created.Name)
	})
	if err != nil {
		return last, err
	}
	return last, result(last)
}

// add adds the next commands to a backup that is stored.
func (c Commands) add(b *cliv1alpha1.Backup, store *refitv1alpha1.BackupStore) {
	if !b.Ended || b.Verified.IsZero() {
		return
	}
	b.Recipients = store.Spec.Recipients
	if backup.IdentityProven(store).Status != metav1.ConditionTrue {
		step := cliv1alpha1.BackupNextStep{Purpose: cliv1alpha1.StepProveIdentity, Command: c.Verify + " " + b.Name + " --identity FILE"}
		if store.Spec.Path != nil {
			step.Node, step.Command = b.Node, hostVerify(b.Name, true)
		}
		b.NextSteps = append(b.NextSteps, step)
	}
	b.NextSteps = append(b.NextSteps, cliv1alpha1.BackupNextStep{Purpose: cliv1alpha1.StepRestore, Command: c.Restore + " " + b.Name})
}

// result is the error of a backup that ended.
func result(b *cliv1alpha1.Backup) error {
	switch b.State {
	case cliv1alpha1.BackupFailed:
		return fmt.Errorf("%s failed after %d attempts: %s", b.Name, b.Attempt, b.Error.Message)
	case cliv1alpha1.BackupFindings:
		return exit.ErrBlocked
	case cliv1alpha1.BackupUnproven:
		return fmt.Errorf("%s is stored, but the agent on %s did not try to restore it: "+
			"run `refit install` with the current version, then create another backup", b.Name, b.Node)
	}
	return nil
}
