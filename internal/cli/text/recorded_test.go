package text_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

// moment is one change of the upgrade that TestRecordedUpgrade of test/apiserver/cli recorded.
type moment struct {
	At        time.Time             `json:"at"`
	Operation cliv1alpha1.Operation `json:"operation"`
}

func recorded(t *testing.T) []moment {
	t.Helper()
	content, err := os.ReadFile("testdata/upgrade.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []moment
	for line := range bytes.Lines(content) {
		var m moment
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// docs/upgrade.md shows these lines.
func TestLinesOfTheRecordedUpgrade(t *testing.T) {
	var out strings.Builder
	var last *cliv1alpha1.Operation
	for _, m := range recorded(t) {
		out.WriteString(text.OperationLines(last, &m.Operation, m.At))
		last = &m.Operation
	}
	golden(t, "recorded-lines", out.String(), 200)
}

// docs/upgrade.md and README.md, as a picture that `make docs` draws, show this frame.
func TestFrameOfTheRecordedUpgrade(t *testing.T) {
	m := firstAt(t, "cp-1", "swap-")
	now := m.At.Add(time.Second)
	golden(t, "recorded-frame", text.Frame(&m.Operation, text.Page{Width: 100}, 50, now), 100)
	golden(t, "recorded-frame-color", strings.ReplaceAll(text.Frame(&m.Operation, text.Page{Width: 100, Color: true}, 50, now), "\x1b", "ESC"), 200)
}

// firstAt returns the first moment of the recording at which a node is at a step with this prefix.
// Short steps may be missing.
func firstAt(t *testing.T, node, prefix string) *moment {
	t.Helper()
	for _, m := range recorded(t) {
		for _, active := range m.Operation.Active {
			if active.Node == node && strings.HasPrefix(active.Step, prefix) {
				return &m
			}
		}
	}
	t.Fatalf("%s is never at %s: record the upgrade again", node, prefix)
	return nil
}
