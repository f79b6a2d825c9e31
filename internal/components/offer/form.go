package offer

import (
	"context"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/check"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// FormProblems reports required items of the form of a ClusterRelease whose values nobody has set.
// They do not block: the values of the chart apply, and its schema can require others. Conditions
// are evaluated with the stored answers.
func FormProblems(
	ctx context.Context, release string, f *refitv1alpha1.ComponentForm, stored form.Stored, component string, values map[string]any,
) ([]Problem, error) {
	everything := func(string) bool { return true }
	if len(form.Unset(f, everything, component, values)) == 0 { // whatever the conditions are
		return nil, nil
	}
	compiled, err := check.CompileForm(f)
	if err != nil {
		found := problem(componentplan.CheckForm, "", "the form of ClusterRelease %s cannot be evaluated: %v", release, err)
		found.Blocks, found.Remedy = false, "Ask the publisher for a ClusterRelease with a form that this version of Refit can evaluate"
		return []Problem{found}, nil
	}
	answers, _ := stored.For(f)
	result, err := form.Evaluate(ctx, f, stored.Complete(f, answers), compiled.Evaluation())
	if err != nil {
		return nil, err
	}
	shown := func(item string) bool { return slices.Contains(result.Items, item) }
	unset := form.Unset(f, shown, component, values)
	if len(unset) == 0 {
		return nil, nil
	}
	found := problem(componentplan.CheckForm, "", "the form of ClusterRelease %s requires values that nobody has set: %s", release, list(unset))
	found.Blocks = false
	return []Problem{found}, nil
}
