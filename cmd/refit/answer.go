package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/assessing"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// question has the flags that `refit check` and `refit plan` have in common.
type question struct {
	assessing.Request
	manifest.Flags
	format
}

func (q *question) addFlags(cmd *cobra.Command, formats ...string) {
	addRequestFlags(cmd, &q.Request, &q.Flags)
	cmd.Flags().StringVar(&q.File, "from", "", "read a saved Snapshot from a `FILE` (- for stdin) instead of a cluster")
	addSourceFlags(cmd, &q.Source)
	q.format.addFlags(cmd, formats...)
	q.addWideFlag(cmd, "node and every finding")
	cmd.Flags().SortFlags = false
}

// ask assesses the upgrade that the flags describe. It validates the flags first, so that a typo
// fails before the cluster is read.
func (q *question) ask(cmd *cobra.Command, a *app, purpose assess.Purpose) (*cliv1alpha1.Report, *refitv1alpha1.ClusterUpgrade, error) {
	if err := q.Check(); err != nil {
		return nil, nil, err
	}
	upgrade, err := q.Upgrade(cmd.Context(), a.assessor(), &q.Flags)
	if err != nil {
		return nil, nil, err
	}
	report, err := q.Assess(cmd.Context(), a.assessor(), upgrade, purpose)
	return report, upgrade, err
}

func (a *app) reader() *source.Reader {
	return &source.Reader{
		Command: a.name, Now: a.Now, Observe: a.observe, ReadFile: a.ReadFile,
		Reading: func(cluster string, verbose bool) source.Reading { return a.NewReading(cluster, verbose) },
	}
}

func (a *app) assessor() *assessing.Assessor {
	return &assessing.Assessor{Reader: a.reader(), ReadManifest: manifest.Read, Preflight: a.preflight}
}

// answer prints a report. Its error selects the exit code.
func (q *question) answer(cmd *cobra.Command, a *app, report *cliv1alpha1.Report, page func(*cliv1alpha1.Report, text.Page, text.Next) string) error {
	shown := report
	if !q.Wide {
		shown = progress.Folded(report)
	}
	if err := a.PrintAs(&q.Format, shown, func() string { return page(report, a.Page(q.Wide), nextOf(cmd, a)) }); err != nil {
		return err
	}
	return exit.IfBlocked(report.Blocked)
}

// addRequestFlags adds the flags that describe an upgrade.
func addRequestFlags(cmd *cobra.Command, r *assessing.Request, f *manifest.Flags) {
	flags := cmd.Flags()
	flags.StringVar(&f.To, "to", "", "the `VERSION` of Kubernetes to upgrade to, for example v1.36.3")
	flags.StringVar(&f.Release, "release", "", "the `NAME` of the ClusterRelease to upgrade to, instead of --to")
	flags.BoolVar(&r.Components, "components", false, "upgrade components only, to the versions of the ClusterRelease of the Kubernetes version that runs")
	flags.StringVar(&f.Scope, "scope", "", "the `PART` of the cluster to upgrade: "+strings.Join(manifest.Scopes, ", ")+" (default All)")
	flags.StringVar(&f.NodeSelector, "node-selector", "", "upgrade only workers with these `LABELS`: key=value,key2=value2")
	flags.StringVar(&f.MaxUnavailable, "max-unavailable", "", "the `NUMBER` or percentage of workers that may be unavailable at once (default 1)")
	flags.StringVar(&f.Window, "window", "", "disrupt nodes and components only while the MaintenanceWindow with this `NAME` is open")
	flags.StringArrayVar(&f.Waive, "waive", nil,
		"waive a finding: `CHECK/OBJECT=REASON` with an object such as Node worker-1, or CHECK=REASON for all objects; can be repeated")
	flags.StringVarP(&r.Manifest, "file", "f", "", "the `FILE` of a ClusterUpgrade manifest (- for stdin) with target, pools and waivers; flags override it")
	for _, other := range []string{"scope", "node-selector", "max-unavailable"} { // no node changes
		cmd.MarkFlagsMutuallyExclusive("components", other)
	}
	mustComplete(cmd, "scope", cobra.FixedCompletions(manifest.Scopes, cobra.ShellCompDirectiveNoFileComp))
}

// nextOf returns the commands to run next.
func nextOf(cmd *cobra.Command, a *app) text.Next {
	next := text.Next{Again: a.line(cmd, cmd.Name()), Plan: a.line(cmd, "plan"), Upgrade: a.line(cmd, "upgrade")}
	if cmd.Flags().Changed("from") {
		next.Upgrade = "" // the current context may be another cluster than the saved one
	}
	return next
}

// line is a command line to copy: another command with those flags of this one that it supports, so
// that it targets the same cluster. Output flags are omitted.
func (a *app) line(cmd *cobra.Command, command ...string) string {
	words := append([]string{a.name}, command...)
	other, _, err := cmd.Root().Find(command)
	if err != nil {
		panic(err) // there is no such command: a bug
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && other.Flags().Lookup(flag.Name) != nil {
			words = append(words, text.FlagWords(flag.Name, flag.Value)...)
		}
	})
	return strings.Join(words, " ")
}
