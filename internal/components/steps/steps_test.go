package steps

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// everything has every word of a recipe.
var everything = []refitv1alpha1.RecipeStep{
	{Freeze: &refitv1alpha1.RecipeFreeze{}},
	{CRDs: &refitv1alpha1.RecipeCRDs{}},
	{Wave: &refitv1alpha1.RecipeWave{Name: "first", Objects: []string{"Deployment/a"}}},
	{Wait: &refitv1alpha1.RecipeWait{Kind: "A.b"}},
	{Touch: &refitv1alpha1.RecipeTouch{RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "A.b"}}},
	{Recreate: &refitv1alpha1.RecipeRecreate{RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "A.b"}}},
	{Patch: &refitv1alpha1.RecipePatch{RecipeObjects: refitv1alpha1.RecipeObjects{Kind: "A.b"}, Path: "/a"}},
	{Wave: &refitv1alpha1.RecipeWave{Name: "rest"}},
	{Verify: &refitv1alpha1.RecipeVerify{}},
}

func TestEveryStepHasAnAction(t *testing.T) {
	steps, err := component.Compile(everything[1:])
	if err != nil {
		t.Fatal(err)
	}
	if Actions[component.StepFreeze] == nil {
		t.Error("freeze has no action")
	}
	for _, step := range steps {
		if Actions[step.Kind] == nil {
			t.Errorf("%s has no action", step.Name)
		}
	}
	for _, step := range component.Rollback(steps) {
		if Undos[step.Kind] == nil {
			t.Errorf("%s has no action", step.Name)
		}
	}
}

func TestObjectsOfWaves(t *testing.T) {
	steps, err := component.Compile([]refitv1alpha1.RecipeStep{
		{Wave: &refitv1alpha1.RecipeWave{Name: "first", Objects: []string{"Deployment/web-*", "rbac/*"}}},
		{Wave: &refitv1alpha1.RecipeWave{Name: "second", Objects: []string{"ConfigMap/settings"}}},
		{Wave: &refitv1alpha1.RecipeWave{Name: "rest"}},
		{Verify: &refitv1alpha1.RecipeVerify{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &Run{Steps: steps}
	refs := []helm.Ref{
		{Group: "apps", Kind: "Deployment", Name: "web-1"},
		{Group: "apps", Kind: "Deployment", Name: "other"},
		{Group: "rbac.authorization.k8s.io", Kind: "Role", Name: "r"},
		{Kind: "ServiceAccount", Name: "s"},
		{Kind: "ConfigMap", Name: "settings"},
		{Kind: "ConfigMap", Name: "settings-2"},
	}
	want := []string{"[true false true true false false]", "[true false true true true false]", "[true true true true true true]"}
	for _, step := range steps {
		if step.Kind != component.StepWave {
			continue
		}
		w := r.waveOf(step)
		var got []bool
		for _, ref := range refs {
			got = append(got, w.Includes(ref))
		}
		if fmt.Sprint(got) != want[step.Wave] || w.Last != (step.Wave == 2) {
			t.Errorf("%s includes %v, want %s; last %v", step.Name, got, want[step.Wave], w.Last)
		}
	}
}

func TestReasonsOfFailures(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "a", errors.New("changed"))
	for _, test := range []struct {
		err       error
		reason    string
		transient bool
	}{
		{&blockedError{offer.NewProblem("CRDDropsFields", "x")}, "CRDDropsFields", false},
		{fmt.Errorf("cannot upgrade: %w", &helm.PendingError{}), "ComponentPending", true},
		{&helm.DeletionError{}, "DeletionNotApproved", false},
		{&object.NotReadyError{}, "ObjectNotReady", false},
		{&otherImageError{}, "OtherImage", false},
		{fmt.Errorf("cannot install: %w", helm.ErrRecordTooLarge), "HelmRecordTooLarge", false},
		{manual(refitv1alpha1.ReasonPlanChanged, nil, "Plan again", "changed"), refitv1alpha1.ReasonPlanChanged, false},
		{conflict, "APIUnavailable", true},
		{context.DeadlineExceeded, "StepTimeout", true},
		{errors.New("other"), "StepFailed", false},
	} {
		failure := FailureOf(test.err)
		if failure.Reason != test.reason || failure.Remedy == "" || failure.Message == "" || failure.Class == "" {
			t.Errorf("%v: %+v, want %s", test.err, failure, test.reason)
		}
		if got := Transient(test.err); got != test.transient {
			t.Errorf("%v: transient %v, want %v", test.err, got, test.transient)
		}
	}
}
