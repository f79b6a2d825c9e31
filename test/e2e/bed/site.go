package bed

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Site is a cluster on which Refit is installed with `refit install`.
type Site struct {
	*Bed
	// Standalone: no controller runs in the cluster.
	Standalone bool
	// Components: refit-components is installed, too.
	Components bool
}

// NewSite creates a cluster that has the images, but neither Refit nor a workload.
func NewSite(t *testing.T, spec cluster.Spec, standalone bool) *Site {
	t.Helper()
	s := &Site{Bed: New(t, spec), Standalone: standalone}
	s.Prepare(t)
	return s
}

// Prepare imports the images and writes the settings of the hosts.
func (s *Site) Prepare(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { s.describeIfFailed(t) })
	EndBeforeDeadline(t, func() { s.describeIfFailed(t) })
	Must(t, s.LoadImages(t.Context(), s.Images(t)))
	OnNodes(t, s.Nodes(), s.PrepareHost)
}

// PrepareHost writes the settings of a testbed host: kubeadm's preflight rejects its kernel.
func (s *Site) PrepareHost(ctx context.Context, n *cluster.Node) error {
	return WriteOn(ctx, n, "/etc/refit/agent.yaml", fmt.Sprintf("kubeadm:\n  ignorePreflightErrors: [%s]\n", cluster.IgnoredPreflight))
}

// UseComponents imports the image of refit-components on the control plane nodes. Install then
// installs it.
func (s *Site) UseComponents(t *testing.T) {
	t.Helper()
	s.Components = true
	for _, archive := range ComponentsImages(t) {
		OnNodes(t, s.OfRole(cluster.RoleControlPlane), func(ctx context.Context, n *cluster.Node) error { return n.LoadImage(ctx, archive) })
	}
}

// Install runs `refit install`.
func (s *Site) Install(t *testing.T) {
	t.Helper()
	args := []string{"install", "--release-key", s.Key.Public}
	for _, source := range s.Sources {
		args = append(args, "--source", source)
	}
	if s.Standalone {
		args = append(args, "--standalone")
	}
	if s.Components {
		args = append(args, "--components")
	}
	s.RunRefit(t, args...)
}

// Upgrade starts `refit upgrade` without prompts.
func (s *Site) Upgrade(t *testing.T, to string, more ...string) *Running {
	t.Helper()
	args := slices.Concat([]string{"upgrade", "--to", to, "--yes"}, more)
	if s.Standalone {
		args = append(args, "--standalone")
	}
	return s.StartRefit(t, args...)
}

// describeIfFailed logs the state and the logs of the agents and the controllers. The output that
// a user would see comes last: the end of a long log is read first.
func (s *Site) describeIfFailed(t *testing.T) {
	t.Helper()
	s.LogIfFailed(t, "clusterupgrades", "nodeupgrades", "etcdbackups")
	if s.Components {
		s.LogIfFailed(t, "components", "componentupgrades")
	}
	if !t.Failed() || s.Gone() {
		return
	}
	ctx, cancel := Soon(context.WithoutCancel(t.Context()))
	defer cancel()
	log, err := s.Kubectl(ctx, nil, "--namespace=refit-system", "logs", "--selector=app.kubernetes.io/name=refit-controller", "--prefix", "--tail=60")
	t.Logf("the log of the controllers (%v):\n%s", err, log)
	if s.Components {
		log, err := s.Kubectl(ctx, nil, "--namespace=refit-components", "logs", "--selector=app.kubernetes.io/name=refit-components", "--prefix", "--tail=100")
		t.Logf("the log of refit-components (%v):\n%s", err, log)
	}
	status, err := s.TryRefit(ctx, "status")
	t.Logf("refit status (%v):\n%s", err, status)
}
