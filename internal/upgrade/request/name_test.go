package request_test

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

func named(names ...string) (out []refitv1alpha1.ClusterUpgrade) {
	for _, name := range names {
		out = append(out, refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return out
}

func TestNames(t *testing.T) {
	version := refitv1alpha1.Target{Kubernetes: "v1.36.3"}
	for name, c := range map[string]struct {
		target    refitv1alpha1.Target
		existing  []refitv1alpha1.ClusterUpgrade
		preferred []string
		want      string // empty: the name is taken
	}{
		"by the version":             {version, nil, nil, "to-v1-36-3"},
		"by the ClusterRelease":      {refitv1alpha1.Target{Release: "spring"}, nil, nil, "to-spring"},
		"the version was used twice": {version, named("to-v1-36-3", "to-v1-36-3-2"), nil, "to-v1-36-3-3"},
		"a name":                     {version, nil, []string{"mine", "manifest"}, "mine"},
		"the name of the manifest":   {version, nil, []string{"", "manifest"}, "manifest"},
		"a name that is taken":       {version, named("mine"), []string{"mine"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := request.Name(c.target, c.existing, c.preferred...)
			if _, taken := errors.AsType[request.NameTakenError](err); got != c.want || taken != (c.want == "") {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// planTo is a plan with a hop to each version.
func planTo(versions ...string) *refitv1alpha1.PlanSummary {
	plan := &refitv1alpha1.PlanSummary{}
	for _, version := range versions {
		plan.Hops = append(plan.Hops, refitv1alpha1.Hop{Kubernetes: version, Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-" + version}})
	}
	return plan
}

func TestTheVersionOfAClusterReleaseIsTheSameTarget(t *testing.T) {
	existing := named("first")
	existing[0].Spec.Target = refitv1alpha1.Target{Kubernetes: "v1.36.3"}
	existing[0].Status.Plan = planTo("v1.36.3")
	for release, same := range map[string]bool{"kubernetes-v1.36.3": true, "other-v1.36.3": false} {
		if got := request.InProgress(existing, refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Release: release}}); (got != nil) != same {
			t.Errorf("%s: got %v", release, got)
		}
	}
}

func TestOperationInProgressWithTheSameRequest(t *testing.T) {
	spec := refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}
	for name, c := range map[string]struct {
		change func(u *refitv1alpha1.ClusterUpgrade)
		same   bool
	}{
		"the same":          {func(*refitv1alpha1.ClusterUpgrade) {}, true},
		"the default scope": {func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Scope = refitv1alpha1.ScopeAll }, true},
		"other pools":       {func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Pools = []refitv1alpha1.Pool{{Name: "default"}} }, true},
		"another scope":     {func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Scope = refitv1alpha1.ScopeWorkers }, false},
		"another version":   {func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Target.Kubernetes = "v1.36.4" }, false},
		"the ClusterRelease of the version": {func(u *refitv1alpha1.ClusterUpgrade) {
			u.Spec.Target = refitv1alpha1.Target{Release: "kubernetes-v1.36.3"}
			u.Status.Plan = planTo("v1.35.4", "v1.36.3")
		}, true},
		"a ClusterRelease on its way": {func(u *refitv1alpha1.ClusterUpgrade) {
			u.Spec.Target = refitv1alpha1.Target{Release: "kubernetes-v1.37.1"}
			u.Status.Plan = planTo("v1.36.3", "v1.37.1")
		}, false},
		"a ClusterRelease without a plan": {func(u *refitv1alpha1.ClusterUpgrade) {
			u.Spec.Target = refitv1alpha1.Target{Release: "kubernetes-v1.36.3"}
		}, false},
		"other nodes":         {func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.NodeSelector = refitv1alpha1.Labels{"a": "b"} }, false},
		"it is being aborted": {func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Aborted = true }, false},
		"it is being deleted": {func(u *refitv1alpha1.ClusterUpgrade) { u.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			existing := named("first")
			existing[0].Spec = *spec.DeepCopy()
			c.change(&existing[0])
			if got := request.InProgress(existing, spec); (got != nil) != c.same {
				t.Errorf("got %v", got)
			}
		})
	}
}
