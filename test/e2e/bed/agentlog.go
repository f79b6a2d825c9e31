package bed

import (
	"context"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Paths of the agent on its host.
const (
	AgentUnit    = "refit-agent"
	AgentProgram = "/usr/local/bin/refit-agent"
)

// TellIfFailed logs objects of these kinds and the logs of the agents if the test has failed.
func (b *Bed) TellIfFailed(t *testing.T, kinds ...string) {
	t.Helper()
	if !t.Failed() || b.Gone() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Patience)
	defer cancel()
	for _, kind := range kinds {
		asking, stop := Soon(ctx)
		if out, err := b.Kubectl(asking, nil, "get", kind, "--output=yaml", "--request-timeout=4s"); err == nil {
			t.Logf("%s", out)
		}
		stop()
	}
	for _, n := range b.Nodes() {
		var said strings.Builder
		if err := n.Journal(ctx, &said, cluster.JournalOptions{Unit: AgentUnit, Lines: 60}); err != nil {
			said.WriteString(err.Error())
		}
		t.Logf("the agent of %s said:\n%s", n.Name(), said.String())
	}
}
