//go:build e2e

package upgrade

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// site is a cluster with a workload, and with Refit installed by `refit install`.
type site struct {
	*bed.Bed
	// standalone: no controller runs in the cluster.
	standalone bool
}

// inCluster and standalone are the two ways to run the controllers.
const (
	inCluster  = false
	standalone = true
)

// newSite creates a cluster, imports the images as without a registry, installs Refit, and runs the
// workload.
func newSite(t *testing.T, spec cluster.Spec, alone bool) *site {
	t.Helper()
	s := newBareSite(t, spec, alone)
	begun := time.Now()
	s.install(t)
	t.Logf("refit install took %.1f s", time.Since(begun).Seconds())
	s.deployShop(t)
	return s
}

// newBareSite creates a cluster that has the images, but neither Refit nor a workload.
func newBareSite(t *testing.T, spec cluster.Spec, alone bool) *site {
	t.Helper()
	s := &site{Bed: bed.New(t, spec), standalone: alone}
	s.prepare(t)
	return s
}

// prepare imports the images and writes the settings of the hosts.
func (s *site) prepare(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { s.tellIfFailed(t) })
	bed.EndBeforeDeadline(t, func() { s.tellIfFailed(t) })
	must(t, s.LoadImages(t.Context(), s.Images(t)))
	bed.OnNodes(t, s.Nodes(), s.prepareHost)
}

// prepareHost writes the settings of a testbed host: kubeadm's preflight rejects its kernel.
func (s *site) prepareHost(ctx context.Context, n *cluster.Node) error {
	return bed.WriteOn(ctx, n, "/etc/refit/agent.yaml", fmt.Sprintf("kubeadm:\n  ignorePreflightErrors: [%s]\n", cluster.IgnoredPreflight))
}

// install runs `refit install`.
func (s *site) install(t *testing.T) {
	t.Helper()
	args := []string{"install", "--release-key", s.Key.Public}
	for _, source := range s.Sources {
		args = append(args, "--source", source)
	}
	if s.standalone {
		args = append(args, "--standalone")
	}
	s.refit(t, args...)
}

// tellIfFailed logs the state and the logs of the agents and the controllers. What a user would see
// comes last: the end of a long log is read first.
func (s *site) tellIfFailed(t *testing.T) {
	t.Helper()
	s.LogIfFailed(t, "clusterupgrades", "nodeupgrades", "etcdbackups")
	if !t.Failed() || s.Gone() {
		return
	}
	ctx, cancel := soon(context.WithoutCancel(t.Context()))
	defer cancel()
	said, err := s.Kubectl(ctx, nil, "--namespace=refit-system", "logs", "--selector=app.kubernetes.io/name=refit-controller", "--prefix", "--tail=60")
	t.Logf("the controllers said (%v):\n%s", err, said)
	status, err := s.tryRefit(ctx, "status")
	t.Logf("refit status (%v):\n%s", err, status)
}
