package bed

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ReliedOnABackup checks that the only operation had the stages Backup and Rehearsal, and that its
// backup was restored and rehearsed on a host before the control plane changed. It returns the name
// of the backup.
func (s *Site) ReliedOnABackup(t *testing.T, figure string, r *Release) string {
	t.Helper()
	var operations refitv1alpha1.ClusterUpgradeList
	s.list(t, "clusterupgrades", &operations)
	var backups refitv1alpha1.EtcdBackupList
	s.list(t, "etcdbackups", &backups)
	if len(operations.Items) != 1 || len(backups.Items) != 1 {
		t.Fatalf("%d operations have %d backups", len(operations.Items), len(backups.Items))
	}
	operation, backup := &operations.Items[0], &backups.Items[0]
	var stages []refitv1alpha1.StageName
	for _, stage := range operation.Status.Plan.Stages {
		stages = append(stages, stage.Name)
	}
	want := []refitv1alpha1.StageName{refitv1alpha1.StagePrefetch, refitv1alpha1.StageBackup, refitv1alpha1.StageRehearsal, refitv1alpha1.StageControlPlane}
	if len(stages) < len(want) || !slices.Equal(stages[:len(want)], want) {
		t.Errorf("the stages are %v", stages)
	}
	status := &backup.Status
	ready := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionReady)
	if backup.Labels[refitv1alpha1.LabelOperation] != string(operation.UID) || status.Drilled == nil || ready == nil || len(status.Rehearsed) != 1 {
		t.Fatalf("the backup is %+v", backup)
	}
	hop := status.Rehearsed[0]
	if hop.Release != r.Ref || hop.Kubernetes != r.Parts.Kubernetes || len(hop.Findings) > 0 || hop.Resources < 50 {
		t.Errorf("the rehearsal is %+v", hop)
	}
	t.Logf("attempt %d on %s, %d MiB; created %s, read back %s", status.Attempt, status.Node, status.Size>>20, backup.CreationTimestamp, status.ReadBack)
	Show(t, figure+"_backup_drilled", status.Drilled.Sub(backup.CreationTimestamp.Time).Seconds(), "s")
	Show(t, figure+"_backup_proven", ready.LastTransitionTime.Sub(backup.CreationTimestamp.Time).Seconds(), "s")
	Show(t, figure+"_rehearsal", float64(hop.Seconds), "s")
	return backup.Name
}

func (s *Site) list(t *testing.T, resource string, into any) {
	t.Helper()
	text, err := s.Kubectl(t.Context(), nil, "get", resource, "--output=json")
	Must(t, err)
	Must(t, json.Unmarshal(text, into))
}
