//go:build e2e

package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Paths of the agent on its host.
const (
	agentUnit    = bed.AgentUnit
	agentProgram = bed.AgentBinary
	agentState   = "/var/lib/refit"
	settingsFile = "/etc/refit/agent.yaml"
)

// quick makes systemd restart a killed agent at once, however often it dies: a run with a kill at
// every point would take an hour otherwise.
const quick = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=100ms\n"

// installAgents installs the agent on every node and waits until each has reported its host.
func (b *agents) installAgents(t *testing.T, program string) {
	t.Helper()
	begun := time.Now()
	bed.OnNodes(t, b.Nodes(), func(ctx context.Context, n *cluster.Node) error { return b.installAgent(ctx, n, program) })
	for _, n := range b.Nodes() {
		must(t, b.waitReport(t.Context(), n, func(r *refitv1alpha1.NodeReport) bool { return r.Status.MachineID != "" }))
	}
	t.Logf("agents on %d nodes, and a report from each, after %.1f s", len(b.Nodes()), time.Since(begun).Seconds())
}

// installAgent performs the manual installation on one host.
func (b *agents) installAgent(ctx context.Context, n *cluster.Node, program string) error {
	for to, from := range map[string]string{"/root/refit-agent": program, "/root/release.pem": b.Key.Public} {
		if err := n.CopyTo(ctx, from, to); err != nil {
			return err
		}
	}
	if err := writeOn(ctx, n, "/etc/systemd/system/refit-agent.service.d/quick.conf", quick); err != nil {
		return err
	}
	argv := []string{"/root/refit-agent", "install", "--key", "/root/release.pem", "--ignore-preflight-error", cluster.IgnoredPreflight}
	for _, source := range b.Sources {
		argv = append(argv, "--source", source)
	}
	if b.patches != "" {
		argv = append(argv, "--patches", b.patches)
	}
	if _, err := n.Exec(ctx, argv...); err != nil {
		return err
	}
	_, err := n.Exec(ctx, "systemctl", "is-active", agentUnit)
	return err
}

// agentPID returns the PID of the agent inside its node, or zero if it does not run.
func agentPID(ctx context.Context, n *cluster.Node) (int, error) {
	out, err := n.Exec(ctx, "systemctl", "show", "--property=MainPID", "--value", agentUnit)
	if err != nil {
		return 0, err
	}
	var pid int
	_, err = fmt.Sscan(strings.TrimSpace(string(out)), &pid)
	return pid, err
}
