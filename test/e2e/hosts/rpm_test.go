//go:build e2e

package hosts

import (
	"context"
	"errors"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// TestRpm upgrades a cluster whose hosts were installed from rpm packages, with one command. The
// packages are undamaged afterwards, and dnf locks the new version of what it had locked.
func TestRpm(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{
		Name: "rpm", ControlPlanes: 3, Workers: 2, Kubernetes: bed.Older, Install: builder.InstallRpm, Containerd: builder.ContainerdDebian,
	}, false)
	s.Install(t)
	r := s.CreateRelease(t, bed.Newer)
	bed.OnNodes(t, s.Nodes(), func(ctx context.Context, n *cluster.Node) error {
		return bed.Until(ctx, n.Name()+" to report rpm packages", bed.CheckTimeout, func(ctx context.Context) error {
			ctx, cancel := bed.Soon(ctx)
			defer cancel()
			report, err := bed.Get[refitv1alpha1.NodeReport](ctx, s.Bed, bed.NodeReports, n.Name())
			if err == nil && report.Status.PackageKind != refitv1alpha1.PackageRpm {
				err = errors.New("it reports the kind " + string(report.Status.PackageKind))
			}
			return err
		})
	})
	check(t, s)
	s.Measured(t, "rpm_3_2", bed.Newer)
	bed.Must(t, s.RecordRelease(r.Parts))
	s.IsAt(t, r)
	s.NoCordonLeft(t)
	bed.OnNodes(t, s.Nodes(), func(ctx context.Context, n *cluster.Node) error {
		locked, err := bed.ReadOn(ctx, n, "/etc/dnf/plugins/versionlock.list")
		return errors.Join(err,
			s.RuntimeAt(ctx, n, "containerd://"+versions.ContainerdRelease),
			bed.Mentions(locked, "kubelet-0:"+bed.Newer[1:]+"-"+versions.RpmRelease+".*"),
		)
	})
}
