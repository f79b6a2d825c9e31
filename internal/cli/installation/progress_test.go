package installation

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/install"
)

// The progress of a thousand nodes takes far fewer than a thousand lines.
func TestProgressOfManyNodes(t *testing.T) {
	var out bytes.Buffer
	report := &reporter{out: &out, done: "placed"}
	for i := range 1000 {
		report.node(install.NodeProgress{Node: fmt.Sprint("n", i), State: install.Pulling}, i, 1000)
		report.node(install.NodeProgress{Node: fmt.Sprint("n", i), State: install.Done}, i+1, 1000)
	}
	report.node(install.NodeProgress{Node: "n7", State: install.Failing, Why: "no"}, 999, 1000)
	if lines := strings.Count(out.String(), "\n"); lines != 21 || !strings.Contains(out.String(), "1000 of 1000 placed") || !strings.Contains(out.String(), "n7: failing: no") {
		t.Errorf("%d lines: %s", lines, out.String())
	}
}

func TestProgressWithoutTheAPIServer(t *testing.T) {
	var out bytes.Buffer
	callbacks := (&reporter{out: &out}).callbacks()
	callbacks.Reach(install.Reach{Err: errors.New("connection refused"), Left: 4 * time.Minute})
	callbacks.Reach(install.Reach{Left: 3 * time.Minute})
	if want := "  The API server is unreachable: connection refused; the wait ends in 4 min\n  The API server is reachable again\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
