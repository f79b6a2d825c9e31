package components

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// Offers are computed again when a stage starts or ends, but not for every node.
func TestEventsOfOperations(t *testing.T) {
	operation := func(change func(*refitv1alpha1.StageSummary)) *refitv1alpha1.ClusterUpgrade {
		out := &refitv1alpha1.ClusterUpgrade{}
		out.Status.Plan = &refitv1alpha1.PlanSummary{
			Stages:     []refitv1alpha1.StageSummary{{Name: refitv1alpha1.StageControlPlane, Total: 3}},
			Components: []refitv1alpha1.PlannedComponent{{Name: "gateway"}},
		}
		change(&out.Status.Plan.Stages[0])
		return out
	}
	same := func(*refitv1alpha1.StageSummary) {}
	now := metav1.NewTime(time.Unix(0, 0))
	for situation, test := range map[string]struct {
		change func(*refitv1alpha1.StageSummary)
		want   bool
	}{
		"nothing changed":    {same, false},
		"a node is complete": {func(s *refitv1alpha1.StageSummary) { s.Done = 1 }, false},
		"the stage started":  {func(s *refitv1alpha1.StageSummary) { s.StartTime = &now }, true},
		"the stage ended":    {func(s *refitv1alpha1.StageSummary) { s.CompletionTime = &now }, true},
	} {
		t.Run(situation, func(t *testing.T) {
			if got := stageChanged(operation(same), operation(test.change)); got != test.want {
				t.Errorf("changed: %v, want %v", got, test.want)
			}
		})
	}
	if !stageChanged(&refitv1alpha1.ClusterUpgrade{}, operation(same)) {
		t.Error("a new plan is no change")
	}
	if got := ofOperation(t.Context(), operation(same)); len(got) != 1 || got[0].Name != "gateway" {
		t.Errorf("queued %v", got)
	}
}

// TestManyHelmRecords: a cluster has thousands of them, and each one is an event when the process
// starts.
func TestManyHelmRecords(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	key := artifact.NewKey()
	public, err := artifact.MarshalPublic(artifact.PublicOf(key).Key)
	if err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	if err := os.WriteFile(filepath.Join(keys, "release.pem"), public, 0o644); err != nil {
		t.Fatal(err)
	}
	lists := 0
	release := published(t, "release", key, refitv1alpha1.ComponentChart{Digest: "sha256:" + strings.Repeat("a", 64), Size: 1})
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(release).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists++
			return c.List(ctx, list, options...)
		},
	}).Build()
	r := NewReconciler(store, &rest.Config{}, Options{Keys: keys, Log: slog.New(slog.DiscardHandler)})
	for n := range 100 {
		record := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "queue", Name: fmt.Sprint("sh.helm.release.v1.queue.v", n), Labels: map[string]string{"owner": "helm", "name": "queue"},
		}}
		if got := r.ofSecret(t.Context(), record); len(got) != 1 || got[0].Name != "queue" {
			t.Fatalf("queued %v", got)
		}
	}
	other := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{"name": "queue"}}}
	if got := r.ofSecret(t.Context(), other); len(got) > 0 {
		t.Errorf("queued %v for a Helm release of others", got)
	}
	if lists != 1 {
		t.Errorf("the ClusterReleases are listed %d times", lists)
	}
}

// TestUpgradesThatRun: what ClusterReleases offer is computed again once nothing of an upgrade runs
// any more, and one that was aborted never ends.
func TestUpgradesThatRun(t *testing.T) {
	const held, apply = refitv1alpha1.PermitHold, refitv1alpha1.PermitApply
	done, open := refitv1alpha1.StepDone, refitv1alpha1.StepRunning
	for situation, test := range map[string]struct {
		phase            refitv1alpha1.ComponentPhase
		permit           refitv1alpha1.Permit
		step             refitv1alpha1.StepState
		frozen, answered bool
		refused          bool
		want             bool
	}{
		"no order":                     {},
		"between two steps":            {refitv1alpha1.ComponentApplying, apply, done, false, true, false, true},
		"held":                         {refitv1alpha1.ComponentApplying, held, done, false, true, false, false},
		"held and not answered yet":    {refitv1alpha1.ComponentApplying, held, done, false, false, false, true},
		"held during a step":           {refitv1alpha1.ComponentApplying, held, open, false, true, false, true},
		"held and frozen":              {refitv1alpha1.ComponentApplying, held, done, true, true, false, true},
		"another order was refused":    {refitv1alpha1.ComponentApplying, apply, done, false, false, true, false},
		"refused during a step":        {refitv1alpha1.ComponentApplying, apply, open, false, false, true, true},
		"rolled back while it is held": {refitv1alpha1.ComponentRollingBack, held, done, false, true, false, true},
		"failed":                       {refitv1alpha1.ComponentFailed, apply, done, false, true, false, false},
	} {
		t.Run(situation, func(t *testing.T) {
			u := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "queue", Generation: 2}}
			u.Spec.Permit, u.Spec.Sequence, u.Status.Phase = test.permit, 2, test.phase
			u.Status.Steps = []refitv1alpha1.StepStatus{{Name: "wave-rest", State: test.step}}
			if test.answered {
				u.Status.ObservedSequence = 2
			}
			if test.frozen {
				u.Status.Frozen = &refitv1alpha1.FrozenStatus{}
			}
			if test.refused {
				u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, ObservedGeneration: 2}}
			}
			if got := busy(u); got != test.want {
				t.Errorf("busy: %v, want %v", got, test.want)
			}
			if queued := ofUpgrade(t.Context(), u); (len(queued) == 0) != test.want {
				t.Errorf("queued %v", queued)
			}
		})
	}
}
