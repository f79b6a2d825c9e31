package verbs

import (
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Decision is the effect of a verb on an operation.
type Decision struct {
	// Change changes the spec. It is nil if the spec has the value already.
	Change func(*refitv1alpha1.ClusterUpgradeSpec)
	// Exact is true if the new value depends on the old one, so that a concurrent change conflicts.
	Exact bool
	// Message is the consequence, in a sentence.
	Message string
	// Plan is the hash that is approved.
	Plan string
}

// Operation is the operation of a verb.
type Operation struct {
	*refitv1alpha1.ClusterUpgrade

	Progress *cliv1alpha1.Operation
	// Command is the command that the user types to run the CLI.
	Command string
}

// Unfinished rejects a verb for an operation that has ended.
func Unfinished(u *refitv1alpha1.ClusterUpgrade, verb string) error {
	if u.HasEnded() {
		return fmt.Errorf("operation %s has ended (%s): cannot %s it", u.Name, u.Status.Phase, verb)
	}
	return nil
}

// NewChange returns the document about a decision.
func NewChange(cluster, operation, verb string, d Decision) *cliv1alpha1.Change {
	return &cliv1alpha1.Change{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindChange, Cluster: cluster, Operation: operation, Verb: verb,
		Changed: d.Change != nil, Message: d.Message, Plan: d.Plan,
	}
}

// nodesThat returns the names of the active nodes with one of these activities.
func nodesThat(o *cliv1alpha1.Operation, does ...string) []string {
	var out []string
	for _, n := range o.Active {
		for _, d := range does {
			if n.Activity == d {
				out = append(out, n.Node)
			}
		}
	}
	return out
}

// current is the current activity of an operation, in a sentence.
func current(o *cliv1alpha1.Operation) string {
	if o.Message == "" {
		return "No controller has observed it yet."
	}
	return fmt.Sprintf("It is %s: %s.", o.Phase, o.Message)
}
