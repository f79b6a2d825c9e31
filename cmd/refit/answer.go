package main

import (
	"github.com/spf13/cobra"

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
