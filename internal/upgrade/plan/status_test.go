package plan_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// The statuses of all simulated decisions are validated against the CRD: a status that the API
// refuses would stop an operation in silence.
func TestMain(m *testing.M) {
	status, err := statusSchema("../../../config/crd/refit.dev_clusterupgrades.yaml")
	if err != nil {
		panic(err)
	}
	plan.CheckStatus = func(w plan.Written) []string {
		u := &refitv1alpha1.ClusterUpgrade{Spec: w.Operation.Spec}
		u.Generation, u.Status.Epoch, u.Status.Active, u.Status.Plan = w.Operation.Generation, w.Operation.Epoch, w.Operation.Active, w.Operation.Plan
		a := &assess.Assessment{Plan: w.Plan, Decision: w.Decision, Started: w.Operation.Plan != nil}
		if a.PlanError = w.Plan.Problem(); a.PlanError != nil {
			a.Plan = nil
		}
		return checkStatus(&status, u, a)
	}
	os.Exit(m.Run())
}

// checkStatus returns what the API refuses in the status that follows from an assessment, the rules
// for conditions included.
func checkStatus(s *schema, u *refitv1alpha1.ClusterUpgrade, a *assess.Assessment) []string {
	assess.UpdateStatus(u, a, time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC))
	wrong := s.check(u.Status)
	for _, c := range u.Status.Conditions {
		if len(c.Type) > 64 || len(c.Reason) > 64 || len([]rune(c.Message)) > refitv1alpha1.MaxConditionMessage {
			wrong = append(wrong, fmt.Sprintf("condition %s: %q, %q", c.Type, c.Reason, c.Message))
		}
	}
	return wrong
}

func TestNoStatusIsTooLongForTheAPI(t *testing.T) {
	status, err := statusSchema("../../../config/crd/refit.dev_clusterupgrades.yaml")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ä", 2000)
	node := strings.Repeat("a", 253)
	waits := make([]plan.Wait, 40)
	for i := range waits {
		waits[i] = plan.Wait{Reason: refitv1alpha1.ReasonDrainBlocked, Node: node, Message: long, Remedy: long, ManualIntervention: true, More: 5000}
	}
	decision := plan.Decision{State: plan.Stalled, Message: long, Waiting: waits}
	unknown := &plan.Plan{
		Hash: "sha256:" + strings.Repeat("a", 64), From: "v1.35.4", To: "v1.37.1",
		Hops:   []plan.Hop{{Kubernetes: "v1.36"}, {Kubernetes: "v1.37.1"}},
		Stages: []plan.Stage{{Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36"}},
	}
	for situation, a := range map[string]*assess.Assessment{
		"every text is long":             {Plan: unknown, Decision: decision},
		"there is no plan":               {PlanError: errors.New(long), Decision: decision},
		"a hop without a ClusterRelease": {Plan: unknown, Decision: plan.Decision{State: plan.Running, Message: "Prefetching"}},
	} {
		t.Run(situation, func(t *testing.T) {
			for _, wrong := range checkStatus(&status, &refitv1alpha1.ClusterUpgrade{}, a) {
				t.Error(wrong)
			}
		})
	}
}

func TestAPathThatIsTooLongForTheStatusIsRefused(t *testing.T) {
	s := &cluster.Snapshot{Version: "v1.20.1"}
	_, err := plan.Outline(s, refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.37.1"}})
	if !errors.Is(err, plan.ErrTarget) {
		t.Errorf("the path of 17 hops is returned: %v", err)
	}
}
