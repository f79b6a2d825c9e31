package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/components"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newComponentsCommand(a *app) *cobra.Command {
	return a.newGroup(&cobra.Command{
		Use: "components", Short: "Show components and let Refit take them over", Long: components.Help,
		Example: a.example("# List the components", "components list", "# Show what would change", "components diff metrics-server"),
	}, newComponentsListCommand(a), newComponentsExplainCommand(a), newComponentsDiffCommand(a), newComponentsAdoptCommand(a))
}

// componentArgument accepts the name of a component.
var componentArgument = accept(arguments.One("name one component, as `refit components list` prints it"))

func componentNames(ctx context.Context, c *connection) (names []string) {
	all, _ := c.Components(ctx) // without a list there is nothing to complete
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

func newComponentsListCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "list", short: "List the components of a cluster", long: components.ListHelp, args: noArguments,
		example: []string{"# List the components", "components list", "# Print the list as JSON", "components list -o json"},
		read: func(r *reading) (any, func() string, error) {
			all, err := r.Components(r.Context())
			if err != nil {
				return nil, nil, err
			}
			orders, err := r.ComponentUpgrades(r.Context())
			list := progress.NewComponents(r.Cluster.Name, all, orders)
			return list, func() string { return text.Components(list, a.name) }, err
		},
	})
}

func newComponentsExplainCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "explain NAME", short: "Explain the state of a component", long: components.ExplainHelp, args: componentArgument, complete: componentNames,
		example: []string{"# Explain a component", "components explain metrics-server", "# Print it as JSON", "components explain metrics-server -o json"},
		read: func(r *reading) (any, func() string, error) {
			known, err := r.Component(r.Context(), r.name)
			if err != nil {
				return nil, nil, err
			}
			e := progress.NewComponentExplanation(r.Cluster.Name, a.name, known, a.Now())
			return e, func() string { return text.ExplainComponent(e, a.Page(false), a.Now()) }, nil
		},
	})
}

func newComponentsDiffCommand(a *app) *cobra.Command {
	var release string
	return a.newView(&view{
		use: "diff NAME", short: "Show what an upgrade changes in a component", long: components.DiffHelp, args: componentArgument, complete: componentNames,
		example: []string{
			"# Show what the newest ClusterRelease changes", "components diff metrics-server",
			"# Show what another one changes", "components diff metrics-server --to kubernetes-v1.36.3",
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&release, "to", "",
				"the `NAME` of a ClusterRelease (default that of the newest version of Kubernetes that changes the component)")
		},
		partial: true,
		read: func(r *reading) (any, func() string, error) {
			known, err := r.Component(r.Context(), r.name)
			if err != nil {
				return nil, nil, err
			}
			diff, err := (&components.Differ{Config: r.config, Cluster: r.Cluster.Name}).Diff(r.Context(), known, release)
			if diff == nil {
				return nil, nil, err
			}
			return diff, func() string { return text.DiffComponent(diff, a.Page(false)) }, err
		},
	})
}

func newComponentsAdoptCommand(a *app) *cobra.Command {
	adopter := &components.Adopter{Command: a.name}
	return a.newView(&view{
		use: "adopt NAME", short: "Let Refit take over a component", long: components.AdoptHelp, args: componentArgument, complete: componentNames,
		example: []string{
			"# Show what would be taken over", "components adopt metrics-server --dry-run", "# Take it over", "components adopt metrics-server",
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&adopter.DryRun, "dry-run", false, "show what would change, as a server-side dry run")
		},
		read: func(r *reading) (any, func() string, error) {
			known, err := r.Component(r.Context(), r.name)
			if err != nil {
				return nil, nil, err
			}
			adopter.Cluster, adopter.Write = r.Cluster.Name, r.Adopt
			result, err := adopter.Adopt(r.Context(), known.Component)
			return result, func() string { return text.Adopt(result, a.Page(false)) }, err
		},
	})
}
