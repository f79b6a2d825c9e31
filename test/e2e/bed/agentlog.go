package bed

import (
	"context"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Paths of the agent on its host.
const (
	AgentUnit   = "refit-agent"
	AgentBinary = "/usr/local/bin/refit-agent"
)

// LogIfFailed logs objects of these kinds and the logs of the agents if the test has failed.
func (b *Bed) LogIfFailed(t *testing.T, kinds ...string) {
	t.Helper()
	if !t.Failed() || b.Gone() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), CheckTimeout)
	defer cancel()
	for _, kind := range kinds {
		short, stop := Soon(ctx)
		if out, err := b.Kubectl(short, nil, "get", kind, "--output=yaml", "--request-timeout=4s"); err == nil {
			t.Logf("%s", out)
		}
		stop()
	}
	for _, n := range b.Nodes() {
		var log strings.Builder
		if err := n.Journal(ctx, &log, cluster.JournalOptions{Unit: AgentUnit, Lines: 60}); err != nil {
			log.WriteString(err.Error())
		}
		t.Logf("the log of the agent on %s:\n%s", n.Name(), log.String())
	}
}
