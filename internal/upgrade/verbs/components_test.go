package verbs_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

// Messages about an operation that changes components alone, or with nodes, count what it changes.
func TestMessagesAboutComponents(t *testing.T) {
	operation := func(from string, nodes int32) verbs.Operation {
		u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
		u.Status.Nodes = refitv1alpha1.NodeCounts{Total: 5, Done: 2}
		u.Status.Plan = &refitv1alpha1.PlanSummary{
			From: from, WorkersFrom: from, To: "v1.36.3", Estimate: metav1.Duration{Duration: 4 * time.Minute}, Hash: "sha256:1",
			Hops: []refitv1alpha1.Hop{{Kubernetes: "v1.36.3"}}, Components: []refitv1alpha1.PlannedComponent{{Name: "liqo"}, {Name: "mesh"}},
			Stages: []refitv1alpha1.StageSummary{
				{Name: refitv1alpha1.StagePrefetch, Kubernetes: "v1.36.3", Total: 5, Done: 5},
				{Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36.3", Total: nodes, Done: min(nodes, 2)},
				{Name: refitv1alpha1.StageComponents, Kubernetes: "v1.36.3", Total: 2, Done: 1},
			},
		}
		return verbs.Operation{ClusterUpgrade: u, Command: "refit", Progress: progress.NewOperation("prod", u, nil, time.Unix(0, 0))}
	}
	alone, both := operation("v1.36.3", 0), operation("v1.35.4", 3)
	for _, c := range []struct {
		verb string
		got  func() (verbs.Decision, error)
		want string
	}{
		{
			"abort alone", func() (verbs.Decision, error) { return verbs.Abort(alone) },
			"Aborting night. Upgraded components keep the new version (1 of 2 components). `refit watch night` shows the progress.",
		},
		{
			"abort both", func() (verbs.Decision, error) { return verbs.Abort(both) },
			"Aborting night. Upgraded nodes keep the new version (2 of 5 nodes). Upgraded components keep the new version (1 of 2 components). " +
				"`refit watch night` shows the progress.",
		},
		{
			"approve alone", func() (verbs.Decision, error) { return verbs.Approve(alone, "") },
			"Approved: 2 components on Kubernetes v1.36.3, about 4 min. night continues; `refit watch` shows the progress.",
		},
		{
			"approve both", func() (verbs.Decision, error) { return verbs.Approve(both, "") },
			"Approved: Kubernetes v1.35.4 → v1.36.3 (3 control plane nodes to v1.36.3 and 2 components), about 4 min. night continues; " +
				"`refit watch` shows the progress.",
		},
	} {
		if d, err := c.got(); err != nil || d.Message != c.want {
			t.Errorf("%s: %q, %v, want\n%q", c.verb, d.Message, err, c.want)
		}
	}
	if d, err := verbs.Retry(alone); err != nil || d.Change != nil || len(d.Message) < 10 || d.Message[:31] != "No component of night failed: n" {
		t.Errorf("retry: %q, %v", d.Message, err)
	}
}
