package verbs

import (
	"fmt"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Retry lets failed and skipped nodes, and failed components, try again.
func Retry(o Operation) (Decision, error) {
	switch {
	case o.Progress.Nodes.Failed+o.Progress.Nodes.Skipped == 0 && !slices.ContainsFunc(o.Progress.Failures, ofComponent):
		what := "node of " + o.Name + " failed or was skipped"
		if o.Progress.ComponentsOnly {
			what = "component of " + o.Name + " failed"
		}
		return Decision{Message: fmt.Sprintf("No %s: nothing to retry. %s", what, current(o.Progress))}, nil
	case o.Status.ObservedGeneration < o.Generation:
		return Decision{Message: fmt.Sprintf("%s has just been changed, and the controllers have not observed it yet: they will retry.", o.Name)}, nil
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Retry++ }, Exact: true,
		Message: fmt.Sprintf("Retrying %s%s. `%s watch` shows the progress.%s", o.Name, failedAt(o.Progress), o.Command, stillPaused(o)),
	}, nil
}

func ofComponent(f cliv1alpha1.NodeFailure) bool { return f.Component != "" }

// failedAt lists the nodes and components that try again.
func failedAt(o *cliv1alpha1.Operation) string {
	names := make([]string, 0, len(o.Failures))
	for i := range o.Failures {
		f := &o.Failures[i]
		name := f.Node
		if ofComponent(*f) { // it starts again if it was rolled back
			names = append(names, "component "+f.Component)
			continue
		}
		if f.Step != "" {
			name += " at " + f.Step
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return ": " + phrase.Fold(names, phrase.FewNames)
}

func stillPaused(o Operation) string {
	if !o.Spec.Paused {
		return ""
	}
	return fmt.Sprintf(" It is paused: resume it with `%s resume`.", o.Command)
}
