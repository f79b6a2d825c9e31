//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	// idleVariable sets the idle time that is measured.
	idleVariable = "REFIT_AGENT_IDLE"
	// mostMemory limits the anonymous memory of an idle agent.
	mostMemory = 30 << 20
)

// TestAgentIdle measures the overhead of idle agents: memory, requests, and the size of the binary.
func TestAgentIdle(t *testing.T) {
	p := bed.Build(t)
	info, err := os.Stat(p.Agent)
	must(t, err)
	show(t, "agent_binary", float64(info.Size())/(1<<20), "MiB")

	b := newBareBed(t, cluster.Spec{Name: "aidle", Workers: 1, Kubernetes: older})
	must(t, b.Audit(t.Context(), `userGroups: ["system:nodes"]`))
	b.installAgents(t, p.Agent)
	lasts := bed.Duration(t, idleVariable, 10*time.Minute)
	must(t, b.WaitReady(t.Context(), recovery))
	time.Sleep(20 * time.Second) // until reports are written and startup has finished
	begun := time.Now()
	time.Sleep(lasts)

	for _, n := range b.Nodes() {
		memory, err := rssAnon(t.Context(), n)
		must(t, err)
		show(t, figureName("agent_memory_"+n.Role()), memory/(1<<20), "MiB")
		if memory > mostMemory {
			t.Errorf("the agent of %s has %.1f MiB for itself", n.Name(), memory/(1<<20))
		}
	}
	watches, others, err := b.requestsSince(t.Context(), begun)
	must(t, err)
	show(t, "agent_idle_watches", float64(watches), "requests")
	show(t, "agent_idle_other_requests", float64(len(others)), "requests")
	for _, one := range others {
		t.Errorf("an idle agent asked for: %s", one)
	}
	must(t, b.watchesOpen(t.Context()))
}

// rssAnon returns the anonymous memory of an agent.
func rssAnon(ctx context.Context, n *cluster.Node) (float64, error) {
	pid, err := agentPID(ctx, n)
	if err != nil {
		return 0, err
	}
	text, err := readOn(ctx, n, fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(text, "\nRssAnon:")
	if !found {
		return 0, errors.New("the kernel does not tell RssAnon")
	}
	var kib float64
	_, err = fmt.Sscan(rest, &kib)
	return kib * 1024, err
}

// events returns the requests of agents in the audit log.
func (b *agents) events(ctx context.Context) ([]bed.AuditEvent, error) {
	return b.Audited(ctx, func(e *bed.AuditEvent) bool { return strings.HasPrefix(e.UserAgent, "refit-agent") })
}

// requestsSince counts watches and lists all other requests of agents. A watch that is restarted
// because the server closed it does not count as another request.
func (b *agents) requestsSince(ctx context.Context, since time.Time) (watches int, others []string, err error) {
	all, err := b.events(ctx)
	if err != nil {
		return 0, nil, err
	}
	seen := map[types.UID]bool{}
	for _, e := range all {
		if e.RequestReceivedTimestamp.Time.Before(since) || seen[e.AuditID] {
			continue
		}
		seen[e.AuditID] = true
		if e.Verb == "watch" {
			watches++
			continue
		}
		others = append(others, fmt.Sprintf("%s %s %s", e.User.Username, e.Verb, e.RequestURI))
	}
	return watches, others, nil
}

// watchesOpen verifies that every agent has exactly two open watches.
func (b *agents) watchesOpen(ctx context.Context) error {
	all, err := b.events(ctx)
	if err != nil {
		return err
	}
	open := map[types.UID]string{}
	for _, e := range all {
		switch {
		case e.Verb != "watch":
		case e.Stage == "ResponseComplete" || e.Stage == "Panic":
			delete(open, e.AuditID)
		default:
			open[e.AuditID] = e.User.Username
		}
	}
	count := map[string]int{}
	for _, user := range open {
		count[user]++
	}
	var errs []error
	for _, n := range b.Nodes() {
		if got := count["system:node:"+n.Name()]; got != 2 {
			errs = append(errs, fmt.Errorf("the agent of %s has %d watches, want 2", n.Name(), got))
		}
	}
	return errors.Join(errs...)
}
