package starting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Starter has the flags of `refit upgrade` about the start of an operation.
type Starter struct {
	Name       string // of the operation; empty for the default
	Log        string // the file for the log of the controllers
	Yes        bool
	Standalone bool
	// Notes receives what the user should know besides the plan.
	Notes   io.Writer
	Command string // what the user types to run the CLI
}

// Cluster is where an operation is started: *operations.Cluster.
type Cluster interface {
	Start(ctx context.Context, spec refitv1alpha1.ClusterUpgradeSpec, hash string, preferred ...string) (
		started *refitv1alpha1.ClusterUpgrade, unapproved bool, err error,
	)
}

// Check validates the flags.
func (s *Starter) Check() error {
	if s.Log != "" && !s.Standalone {
		return exit.Usagef("--log requires --standalone: the controllers in the cluster have their own logs")
	}
	if err := request.ValidateName(s.Name); s.Name != "" && err != nil {
		return exit.Usagef("--name: %w", err)
	}
	return nil
}

// Same returns the operation in progress with the requested target, nil if there is none. One with
// other settings is an error, because this command does not change it.
func (s *Starter) Same(all []refitv1alpha1.ClusterUpgrade, requested *refitv1alpha1.ClusterUpgrade) (*refitv1alpha1.ClusterUpgrade, error) {
	same := request.InProgress(all, requested.Spec)
	if same == nil {
		return nil, nil //nolint:nilnil // most upgrades are new
	}
	if differs := request.Differs(requested.Spec, same.Spec); differs != "" {
		return nil, exit.Usagef("%s has the same target and is in progress with other %s, and this command does not change it: "+
			"omit them to follow it, or change it with `%s waive` or `%s set pool`", same.Name, differs, s.Command, s.Command)
	}
	fmt.Fprintf(s.Notes, "%s has the same target and is in progress since %s: following it.\n",
		same.Name, same.CreationTimestamp.UTC().Format("2006-01-02 15:04 UTC"))
	return same, nil
}

// Accept returns an error if the plan cannot start.
func (s *Starter) Accept(report *cliv1alpha1.Report, requested *refitv1alpha1.ClusterUpgrade, all []refitv1alpha1.ClusterUpgrade) error {
	if report.Blocked {
		return exit.ErrBlocked
	}
	if approved := requested.Spec.ApprovedPlan; approved != "" && approved != report.Plan.Hash {
		return exit.Usagef("the manifest approves plan %s, but this is plan %s: review it, then omit approvedPlan", approved, report.Plan.Hash)
	}
	if older := request.Unfinished(all); len(older) > 0 {
		fmt.Fprintf(s.Notes, "This upgrade waits for older operations: %s\n", text.Clean(strings.Join(older, ", ")))
	}
	return nil
}

// Start creates the operation and approves the plan that was shown.
func (s *Starter) Start(
	ctx context.Context, c Cluster, requested *refitv1alpha1.ClusterUpgrade, hash string,
) (*refitv1alpha1.ClusterUpgrade, error) {
	started, unapproved, err := c.Start(ctx, requested.Spec, hash, s.Name, requested.Name)
	if taken, ok := errors.AsType[request.NameTakenError](err); ok {
		return nil, exit.Usagef("%w: choose another --name", taken)
	}
	if unapproved {
		fmt.Fprintf(s.Notes, "You do not have permission to approve plans: %s waits for `%s approve %s --plan %s` by another user.\n",
			started.Name, s.Command, started.Name, hash)
	}
	return started, err
}
