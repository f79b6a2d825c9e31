package offer

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/check"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// checkProblems evaluates the checks of the publisher. Each has at most one problem of a kind,
// however many objects have it, because an offer lists few problems.
func checkProblems(ctx context.Context, reader client.Client, in Input) (problems []Problem, err error) {
	versions := check.Versions{From: in.From, To: in.Component.Version, Kubernetes: in.Capabilities.Kubernetes}
	for i := range in.Component.Checks {
		c := &in.Component.Checks[i]
		if !component.Applies(c, in.Action) {
			continue
		}
		result, err := check.Run(ctx, reader, c, versions)
		if err != nil {
			return nil, err
		}
		problems = append(problems, problemsOf(in.Component.Name, c, result)...)
	}
	return problems, nil
}

// problemsOf returns the problems of a check. The object has the component in it, so that a waiver
// does not concern a check of another component with the same name.
func problemsOf(name string, c *refitv1alpha1.ComponentCheck, result check.Result) (problems []Problem) {
	object := "Check " + name + "/" + c.Name
	if result.Failed {
		message := c.Message
		if len(result.Objects) > 0 {
			kind, _, _ := strings.Cut(c.Objects.Kind, ".")
			message += ": " + kind + " " + list(result.Objects)
		}
		failed := problem(componentplan.CheckFailed, object, "%s", message)
		failed.Remedy = refitv1alpha1.Clip(c.Remedy, refitv1alpha1.MaxMessage)
		problems = append(problems, failed)
	}
	if result.Invalid != nil {
		problems = append(problems, problem(componentplan.CheckInvalid, object, "the check %s cannot be evaluated: %v", c.Name, result.Invalid))
	}
	for i := range problems {
		problems[i].Blocks = c.Severity != refitv1alpha1.CheckWarns
	}
	return problems
}
