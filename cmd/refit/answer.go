package main

import (
	"errors"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/progress"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// question has the flags that `refit check` and `refit plan` have in common.
type question struct {
	source.Source
	requestFlags
	format

	observed *source.Observation // nil until it is read
}

func (q *question) addFlags(cmd *cobra.Command, formats ...string) {
	q.requestFlags.addFlags(cmd)
	cmd.Flags().StringVar(&q.File, "from", "", "read a saved Snapshot from a `FILE` (- for stdin) instead of a cluster")
	addSourceFlags(cmd, &q.Source)
	q.format.addFlags(cmd, formats...)
	cmd.Flags().BoolVar(&q.wide, "wide", false, "list every node and every finding")
	cmd.Flags().SortFlags = false
}

// ask assesses the upgrade that the flags describe. It validates the flags first, so that a typo
// fails before the cluster is read.
func (q *question) ask(cmd *cobra.Command, a *app, purpose assess.Purpose) (*cliv1alpha1.Report, *refitv1alpha1.ClusterUpgrade, error) {
	upgrade, err := q.requested(cmd, a)
	if err != nil {
		return nil, nil, err
	}
	report, err := q.assess(cmd, a, upgrade, purpose)
	return report, upgrade, err
}

// requested returns the upgrade that the flags describe.
func (q *question) requested(cmd *cobra.Command, a *app) (*refitv1alpha1.ClusterUpgrade, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if given := q.Given(); q.File != "" && given != "" {
		return nil, exit.Usagef("--from and %s exclude each other", given)
	}
	if q.File == document.Stdin && q.manifest == document.Stdin {
		return nil, exit.Usagef("--from and --file cannot both be read from stdin")
	}
	upgrade, err := q.upgrade(a, func(minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) {
		return q.resolveMinor(cmd, a, minor, spec)
	})
	if errors.Is(err, request.ErrNoTarget) {
		return nil, q.noTarget(cmd, a)
	}
	return upgrade, err
}

// assess reads the cluster and assesses the upgrade.
func (q *question) assess(cmd *cobra.Command, a *app, upgrade *refitv1alpha1.ClusterUpgrade, purpose assess.Purpose) (*cliv1alpha1.Report, error) {
	if err := q.read(cmd, a); err != nil {
		return nil, err
	}
	if err := request.ValidateFor(upgrade.Spec, q.observed.Snapshot); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return a.assess(q.observed, upgrade.Spec, q.waivers, purpose)
}

// read reads the cluster, once.
func (q *question) read(cmd *cobra.Command, a *app) (err error) {
	if q.observed == nil {
		q.observed, err = a.reader().Read(cmd.Context(), &q.Source)
	}
	return err
}

// resolveMinor returns the newest patch release of a minor version that a ClusterRelease in the
// cluster has.
func (q *question) resolveMinor(cmd *cobra.Command, a *app, minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error) {
	if err := q.read(cmd, a); err != nil {
		return "", err
	}
	version, err := assess.NewestPatch(minor, q.observed.Snapshot, spec)
	if err != nil {
		return "", exit.Usagef("--to %s: %w", q.To, err)
	}
	return version, nil
}

func (a *app) reader() *source.Reader {
	return &source.Reader{
		Command: a.name, Now: a.Now, Observe: a.observe, ReadFile: a.ReadFile,
		Reading: func(cluster string, verbose bool) source.Reading { return a.NewReading(cluster, verbose) },
	}
}

// noTarget is the error for a missing target, with what is known of the cluster.
func (q *question) noTarget(cmd *cobra.Command, a *app) error {
	return source.NoTarget(a.reader().Glance(cmd.Context(), &q.Source))
}

// answer prints a report. Its error selects the exit code.
func (q *question) answer(cmd *cobra.Command, a *app, report *cliv1alpha1.Report, page func(*cliv1alpha1.Report, text.Page, text.Next) string) error {
	shown := report
	if !q.wide {
		shown = progress.Folded(report)
	}
	if err := q.print(a, shown, func() string { return page(report, a.Page(q.wide), nextOf(cmd, a)) }); err != nil {
		return err
	}
	if report.Blocked {
		return exit.ErrBlocked
	}
	return nil
}
