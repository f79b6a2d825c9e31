package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Which operation a command means if it is given no name.
const (
	unfinishedOnly = false
	orNewest       = true // where all have ended: the newest
)

// errNoOperation is that there is nothing to speak of.
var errNoOperation = errors.New("no operation")

// choose finds the operation of this name. Without a name it is the one that acts: the oldest that has not ended.
func (o *operations) choose(ctx context.Context, name string, newest bool) (*refitv1alpha1.ClusterUpgrade, error) {
	all, err := o.all(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(u refitv1alpha1.ClusterUpgrade) bool {
		if name != "" {
			return u.Name == name
		}
		return !u.HasEnded()
	})
	switch {
	case at >= 0:
		return &all[at], nil
	case name != "":
		return nil, fmt.Errorf("there is no operation %s; there are %s", name, orNone(namesOf(all)))
	case len(all) == 0:
		return nil, fmt.Errorf("%w was ever begun in %s: `%s upgrade --to VERSION` begins one", errNoOperation, o.cluster, o.app.name)
	case newest:
		return &all[len(all)-1], nil
	}
	last := &all[len(all)-1]
	return nil, fmt.Errorf("%w is unfinished in %s; the last one, %s, is %s", errNoOperation, o.cluster, last.Name, last.Status.Phase)
}

func namesOf(all []refitv1alpha1.ClusterUpgrade) []string {
	out := make([]string, 0, len(all))
	for i := range all {
		out = append(out, all[i].Name)
	}
	return out
}

// operationArgument accepts the name of an operation, or none.
func operationArgument(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%q is one argument too many: give the name of one operation", args[1])
	}
	return nil
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// completeOperations lets a shell complete the names of operations.
func (a *app) completeOperations(k *kubeconfig) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
		defer cancel()
		o, err := a.operations(ctx, k)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := o.all(ctx) // nothing to offer
		return namesOf(all), cobra.ShellCompDirectiveNoFileComp
	}
}
