package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// question is what `refit check` and `refit plan` have in common: a cluster, a request, and a form for the answer.
type question struct {
	source
	request
	format
}

func (q *question) addFlags(cmd *cobra.Command, formats ...string) {
	q.request.addFlags(cmd)
	q.addFromFlag(cmd)
	q.source.addFlags(cmd)
	q.format.addFlags(cmd, formats...)
	cmd.Flags().BoolVar(&q.wide, "wide", false, "list every node and every finding instead of folding long lists")
	cmd.Flags().SortFlags = false
}

// ask reads what the flags name and thinks about it. The request is looked at first: nobody should wait for a cluster to learn of a typo.
func (q *question) ask(cmd *cobra.Command, a *app, purpose assess.Purpose) (*cliv1alpha1.Report, *refitv1alpha1.ClusterUpgrade, error) {
	upgrade, err := q.wanted(cmd, a)
	if err != nil {
		return nil, nil, err
	}
	report, err := q.assess(cmd, a, upgrade, purpose)
	return report, upgrade, err
}

// wanted is the upgrade that the flags ask for.
func (q *question) wanted(cmd *cobra.Command, a *app) (*refitv1alpha1.ClusterUpgrade, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.from == stdio && q.file == stdio {
		return nil, usage("--from and --file cannot both be read from stdin")
	}
	upgrade, err := q.upgrade(a)
	if errors.Is(err, errNoTarget) {
		return nil, q.offer(cmd, a)
	}
	return upgrade, err
}

// assess reads the cluster and assesses the upgrade.
func (q *question) assess(cmd *cobra.Command, a *app, upgrade *refitv1alpha1.ClusterUpgrade, purpose assess.Purpose) (*cliv1alpha1.Report, error) {
	seen, err := q.read(cmd.Context(), a)
	if err != nil {
		return nil, err
	}
	return a.assess(seen, upgrade.Spec, purpose)
}

// offer tells who gave no target what the cluster has, as far as that is quickly seen. The choice is not ours.
func (q *question) offer(cmd *cobra.Command, a *app) error {
	var at string
	var releases []string
	if q.from != "" {
		if seen, err := q.readFile(a); err == nil {
			at = seen.snapshot.Version
			for i := range seen.snapshot.Releases {
				releases = append(releases, seen.snapshot.Releases[i].Name)
			}
		}
	} else if config, _, err := q.load(); err == nil {
		at, _ = reach(cmd.Context(), config) // no answer, nothing to offer
	}
	switch {
	case len(releases) > 0:
		return usage("%w; the cluster is at %s and has the ClusterReleases %s", errNoTarget, at, strings.Join(releases, ", "))
	case at != "":
		return usage("%w; the cluster is at %s", errNoTarget, at)
	}
	return usageError{errNoTarget}
}

// answer prints a report and says by its error how the process ends.
func (q *question) answer(cmd *cobra.Command, a *app, report *cliv1alpha1.Report, page func(*cliv1alpha1.Report, text.Page, text.Next) string) error {
	if q.output != formatText {
		document := report
		if !q.wide {
			document = progress.Folded(report)
		}
		if err := q.print(a, document); err != nil {
			return err
		}
	} else if err := a.write([]byte(page(report, a.page(q.wide), nextOf(cmd, a)))); err != nil {
		return err
	}
	if report.Blocked {
		return errBlocked
	}
	return nil
}

// page is how text is laid out for whoever reads the output.
func (a *app) page(wide bool) text.Page {
	columns, _ := a.terminal(a.out)
	return text.Page{Width: columns, Color: a.colors(a.out), Wide: wide}
}

func (a *app) write(what []byte) error {
	if _, err := a.out.Write(what); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
