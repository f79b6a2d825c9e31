package etcdbackup

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The loss of one disk leaves the backup before the latest.
func TestBackupsOnDisksOfHostsAlternate(t *testing.T) {
	for latest, want := range map[string]string{"": "cp-2", "cp-2": "cp-3", "cp-3": "cp-2"} {
		got := Next(observed(func(o *Observation) { o.Latest = latest }))
		if got.Kind != Start || got.Node.Name != want {
			t.Errorf("after a backup on %q: %s on %v, want %s", latest, got.Kind, got.Node, want)
		}
	}
	// The node of the failed attempt counts, whatever the latest backup.
	got := Next(observed(func(o *Observation) { o.Latest, o.Backup.Status.Node, o.Backup.Status.Attempt = "cp-3", "cp-2", 1 }))
	if got.Kind != Start || got.Node.Name != "cp-3" {
		t.Errorf("after an attempt on cp-2: %s on %v", got.Kind, got.Node)
	}
}

func TestTheLatestBackupOfAStore(t *testing.T) {
	stored := func(store, node string, minutes int) refitv1alpha1.EtcdBackup {
		b := refitv1alpha1.EtcdBackup{}
		b.Spec.Store, b.Status.Node = store, node
		if minutes > 0 {
			at := metav1.NewTime(now.Add(time.Duration(minutes) * time.Minute))
			b.Status.ReadBack = &at
		}
		return b
	}
	all := []refitv1alpha1.EtcdBackup{
		stored("local", "cp-1", 5), stored("local", "cp-2", 7), stored("offsite", "cp-3", 9), stored("local", "cp-3", 0), stored("local", "cp-3", 6),
	}
	if got := Latest("local", all); got != "cp-2" {
		t.Errorf("the latest backup is on %q", got)
	}
	if got := Latest("other", all); got != "" {
		t.Errorf("an empty store has a backup on %q", got)
	}
}
