package plan

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestStageHeadings(t *testing.T) {
	for name, want := range map[refitv1alpha1.StageName]string{
		refitv1alpha1.StagePrefetch:     "Prefetch v1.36.3",
		refitv1alpha1.StageControlPlane: "Control plane v1.36.3",
		refitv1alpha1.StageWorkers:      "Workers v1.36.3",
		refitv1alpha1.StageVerify:       "Verify",
		refitv1alpha1.StageBackup:       "Backup before v1.36.3",
		refitv1alpha1.StageRehearsal:    "Rehearsal v1.36.3",
		refitv1alpha1.StageComponents:   "Components v1.36.3",
		"Garden":                        "Garden v1.36.3", // of a newer Refit
	} {
		kind := StageKindOf(name)
		if got := kind.Heading("v1.36.3"); got != want {
			t.Errorf("Heading(%s) = %q, want %q", name, got, want)
		}
	}
}

// The longest plan has every stage in every hop, except for Verify, which is last.
func TestTheLongestPlanFits(t *testing.T) {
	if longest := refitv1alpha1.MaxHops*(len(stageTable)-1) + 1; longest > refitv1alpha1.MaxStages {
		t.Errorf("a plan has up to %d stages, but its status lists %d", longest, refitv1alpha1.MaxStages)
	}
}

func TestEveryStageKindIsComplete(t *testing.T) {
	seen := map[refitv1alpha1.StageName]bool{}
	for _, kind := range stageTable {
		if seen[kind.Name] {
			t.Errorf("two rows for stage %s", kind.Name)
		}
		seen[kind.Name] = true
		if kind.Title == "" || kind.included == nil || kind.reason == nil || kind.steps == nil || kind.complete == nil || kind.grant == nil || kind.done == nil {
			t.Errorf("the row of stage %s is incomplete: %+v", kind.Name, kind)
		}
	}
}
