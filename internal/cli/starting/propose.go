package starting

import (
	"context"
	"fmt"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

// Proposal is a requested upgrade whose plan the user may accept.
type Proposal struct {
	Requested *refitv1alpha1.ClusterUpgrade
	All       []refitv1alpha1.ClusterUpgrade // the operations of the cluster
	Cluster   string                         // the user's name for the cluster
	// Controllers returns an error if no controllers would execute the upgrade, or a note if that
	// is unknown.
	Controllers func(ctx context.Context) (note string, err error)
	Assess      func(ctx context.Context) (*cliv1alpha1.Report, error)
	Show        func(report *cliv1alpha1.Report) error
	Terminal    Terminal
}

// Terminal prompts the user: *terminal.Streams.
type Terminal interface {
	MayAsk() error
	Confirm(ctx context.Context, question string) error
}

// Propose shows the plan and prompts the user to confirm it. It returns the plan's hash, or an
// empty string if there is nothing to do.
func (s *Starter) Propose(ctx context.Context, p Proposal) (hash string, err error) {
	if !s.Yes {
		if err := p.Terminal.MayAsk(); err != nil {
			return "", err // before the user waits for a plan
		}
	}
	if err := s.expectControllers(ctx, p); err != nil {
		return "", err
	}
	report, err := p.Assess(ctx)
	if err != nil {
		return "", err
	}
	if err := p.Show(report); err != nil || report.Plan.Done() {
		return "", err
	}
	if err := s.Accept(report, p.Requested, p.All); err != nil || s.Yes {
		return report.Plan.Hash, err
	}
	question := fmt.Sprintf("Upgrade %s to %s with this plan?", p.Cluster, report.Plan.To)
	if report.Request.Components {
		question = fmt.Sprintf("Upgrade the components of %s with this plan?", p.Cluster)
	}
	return report.Plan.Hash, p.Terminal.Confirm(ctx, question)
}

// expectControllers requires controllers in the cluster, unless the command runs them.
func (s *Starter) expectControllers(ctx context.Context, p Proposal) error {
	if s.Standalone {
		return nil
	}
	note, err := p.Controllers(ctx)
	if note != "" {
		fmt.Fprintln(s.Notes, text.Clean(note))
	}
	return err
}
