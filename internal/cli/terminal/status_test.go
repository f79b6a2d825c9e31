package terminal_test

import (
	"bytes"
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/terminal/terminaltest"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func noEnvironment(string) string { return "" }

// On a terminal, each frame overwrites the previous one, and the last one stays.
func TestLiveView(t *testing.T) {
	read, write := terminaltest.Open(t)
	streams := &terminal.Streams{Out: write, Getenv: noEnvironment}
	live := streams.NewStatusWriter(false)
	o := &cliv1alpha1.Operation{Name: "op", Cluster: "prod", Phase: "Running", To: "v1.36.3", Message: "Draining worker-1", StartTime: clustertest.Now}
	for i, phase := range []string{"Running", "Running", "Succeeded"} {
		o.Phase = phase
		o.Ended, o.CompletionTime = i == 2, clustertest.Now
		if err := live(o, clustertest.Now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write.WriteString("END"); err != nil {
		t.Fatal(err)
	}
	drawn := ""
	for got := make([]byte, 4096); !strings.Contains(drawn, "END"); {
		n, err := read.Read(got)
		if err != nil {
			t.Fatal(err)
		}
		drawn += string(got[:n])
	}
	frames := strings.Split(drawn, "\x1b[4A\r\x1b[J")
	if len(frames) != 2 || !strings.Contains(frames[0], "running") || !strings.Contains(frames[1], "succeeded") {
		t.Errorf("it draws %q", drawn)
	}
}

// Without a terminal there is one line per change, or one JSON document with json set, and none for
// elapsed time.
func TestStatusElsewhere(t *testing.T) {
	o := &cliv1alpha1.Operation{Name: "demo", Phase: "Running", StartTime: clustertest.Now, LeftSeconds: 9}
	later := *o
	later.LeftSeconds = 8
	for json, first := range map[bool]string{false: "   0:00  Operation demo", true: `{"apiVersion":`} {
		var out bytes.Buffer
		streams := &terminal.Streams{Out: &out, Getenv: noEnvironment}
		write := streams.NewStatusWriter(json)
		for _, status := range []*cliv1alpha1.Operation{o, o, &later} {
			if err := write(status, clustertest.Now); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(out.String(), first) || strings.Count(out.String(), "demo") != 1 {
			t.Errorf("JSON %v: %s", json, out.String())
		}
	}
}
