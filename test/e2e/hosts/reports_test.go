//go:build e2e

package hosts

import (
	"context"
	"errors"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// reportOf waits until the agent of a node reports a virtual IP, and returns its report.
func reportOf(t *testing.T, s *bed.Site, n *cluster.Node) *refitv1alpha1.NodeReportStatus {
	t.Helper()
	var status *refitv1alpha1.NodeReportStatus
	bed.Must(t, bed.Until(t.Context(), n.Name()+" to report a virtual IP", bed.CheckTimeout, func(ctx context.Context) error {
		ctx, cancel := bed.Soon(ctx)
		defer cancel()
		report, err := bed.Get[refitv1alpha1.NodeReport](ctx, s.Bed, bed.NodeReports, n.Name())
		if err == nil && len(report.Status.VirtualIPs) == 0 {
			err = errors.New("it reports none")
		}
		if err == nil {
			status = &report.Status
		}
		return err
	}))
	return status
}

// check returns the output of `refit check`, which must find nothing that blocks. Reports of the
// agents may be some seconds old.
func check(t *testing.T, s *bed.Site) string {
	t.Helper()
	var found string
	bed.Must(t, bed.Until(t.Context(), "preflight to pass", bed.CheckTimeout, func(ctx context.Context) (err error) {
		found, err = s.TryRefit(ctx, "check", "--to", bed.Newer)
		return err
	}))
	t.Log(found)
	return found
}

// holderOf returns the control plane node that holds the virtual IP. A node that is off holds
// nothing.
func holderOf(ctx context.Context, s *bed.Site) (*cluster.Node, error) {
	var holder *cluster.Node
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		if n.State() != "running" {
			continue
		}
		holds, err := n.HoldsVIP(ctx)
		switch {
		case err != nil:
			return nil, err
		case holds && holder != nil:
			return nil, errors.New(holder.Name() + " and " + n.Name() + " hold the virtual IP")
		case holds:
			holder = n
		}
	}
	if holder == nil {
		return nil, errors.New("no node holds the virtual IP")
	}
	return holder, nil
}
