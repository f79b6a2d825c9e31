package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newChecksCommand(a *app) *cobra.Command {
	f := &format{}
	cmd := &cobra.Command{
		Use:   "checks",
		Short: "List everything that refit check looks for",
		Long: `Lists every check: its name, as findings and waivers use it, how much a finding of it weighs, and
what it means. A check marked "agent" needs, at least in part, facts that only Refit's agent on the
host can tell; one marked "no waiver" cannot be set aside.`,
		Example: a.example("checks", "checks -o json"),
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			list := progress.NewChecks()
			return f.print(a, list, func() string { return text.Checks(&list) })
		},
	}
	f.addFlags(cmd)
	return cmd
}
