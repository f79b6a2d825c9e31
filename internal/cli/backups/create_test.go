package backups

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// creation is a cluster whose agent takes a backup at once.
type creation struct {
	store    refitv1alpha1.BackupStore
	verified time.Time
}

func (c creation) BackupStore(context.Context, string) (*refitv1alpha1.BackupStore, error) {
	return &c.store, nil
}

func (creation) CreateBackup(_ context.Context, prefix string, spec refitv1alpha1.EtcdBackupSpec) (*refitv1alpha1.EtcdBackup, error) {
	return &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: prefix + "-1"}, Spec: spec}, nil
}

func (c creation) FollowBackup(
	_ context.Context, b *refitv1alpha1.EtcdBackup, report func(*cliv1alpha1.Backup, time.Time) error,
) (*cliv1alpha1.Backup, error) {
	state := cliv1alpha1.BackupState{Name: b.Name, Node: "cp-2", Ended: true, State: cliv1alpha1.BackupSucceeded, Verified: c.verified}
	if c.verified.IsZero() {
		state.State, state.Error = cliv1alpha1.BackupFailed, &refitv1alpha1.BackupError{}
	}
	out := &cliv1alpha1.Backup{BackupState: state}
	return out, report(out, testNow)
}

func TestACreatedBackupHasItsNextSteps(t *testing.T) {
	directory := refitv1alpha1.BackupStore{Spec: refitv1alpha1.BackupStoreSpec{Path: &refitv1alpha1.PathStore{Directory: "/b"}, Recipients: []string{"age1a"}}}
	bucket := refitv1alpha1.BackupStore{Spec: refitv1alpha1.BackupStoreSpec{Recipients: []string{"age1a"}}}
	proven := *bucket.DeepCopy()
	proven.Status.Proven = &refitv1alpha1.ProvenIdentity{Recipients: []string{"age1a"}}
	restore := cliv1alpha1.BackupNextStep{Purpose: cliv1alpha1.StepRestore, Command: "refit restore backup-1"}
	for situation, test := range map[string]struct {
		cluster creation
		want    []cliv1alpha1.BackupNextStep
	}{
		"in a directory of its host": {creation{directory, testNow}, []cliv1alpha1.BackupNextStep{
			{Purpose: cliv1alpha1.StepProveIdentity, Node: "cp-2", Command: "refit-agent backup verify backup-1 --identity FILE"}, restore,
		}},
		"in a bucket": {creation{bucket, testNow}, []cliv1alpha1.BackupNextStep{
			{Purpose: cliv1alpha1.StepProveIdentity, Command: "refit backup verify backup-1 --identity FILE"}, restore,
		}},
		"the identity is proven": {creation{proven, testNow}, []cliv1alpha1.BackupNextStep{restore}},
		"it failed":              {creation{bucket, time.Time{}}, nil},
	} {
		t.Run(situation, func(t *testing.T) {
			var reported *cliv1alpha1.Backup
			c := Creator{Store: "local", Drill: "none", Report: func(b *cliv1alpha1.Backup, _ time.Time) error {
				reported = b
				return nil
			}}
			got, err := c.Create(t.Context(), test.cluster, nil, Commands{Verify: "refit backup verify", Restore: "refit restore"})
			if (err != nil) != test.cluster.verified.IsZero() || !slices.Equal(got.NextSteps, test.want) || !slices.Equal(reported.NextSteps, test.want) {
				t.Errorf("%+v, %v", got.NextSteps, err)
			}
			if len(test.want) > 0 && !slices.Equal(got.Recipients, []string{"age1a"}) {
				t.Errorf("recipients: %v", got.Recipients)
			}
		})
	}
}
