package installation

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

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
