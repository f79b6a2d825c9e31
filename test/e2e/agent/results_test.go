//go:build e2e

package agent

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	// resultsVariable names the file from which a long run resumes.
	resultsVariable = "REFIT_AGENT_RESULTS"
	resultsDefault  = "../../../bin/agent-crashes.jsonl"
	// anyAgentVariable accepts results of agents that were built from a different source.
	anyAgentVariable = "REFIT_AGENT_RESULTS_OF_ANY"
)

// result is the outcome of one run with one fault.
type result struct {
	Role  string `json:"role"`
	Point string `json:"point"`
	Fault string `json:"fault"` // kill or cut
	// Together is the number of points of the run, and Seconds its time.
	Together int       `json:"together"`
	Outcome  string    `json:"outcome"`
	Seconds  float64   `json:"seconds"`
	Agent    string    `json:"agent"`
	At       time.Time `json:"at"`
}

const well = "well"

// results are the results in a file, to which new ones are appended.
type results struct {
	file, agent string
	all         []result
}

// openResults reads the results of earlier runs of the same agent.
func openResults(t *testing.T, agent string) *results {
	t.Helper()
	program, err := os.ReadFile(agent)
	must(t, err)
	sum := sha256.Sum256(program)
	r := &results{file: cmp.Or(os.Getenv(resultsVariable), resultsDefault), agent: hex.EncodeToString(sum[:6])}
	f, err := os.Open(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return r
	}
	must(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one result
		// The last line may be incomplete if the run was killed.
		if json.Unmarshal(lines.Bytes(), &one) == nil && (one.Agent == r.agent || os.Getenv(anyAgentVariable) != "") {
			r.all = append(r.all, one)
		}
	}
	must(t, lines.Err())
	return r
}

// has reports whether a run has already passed.
func (r *results) has(role, point, fault string) bool {
	for _, one := range r.all {
		if one.Role == role && one.Point == point && one.Fault == fault && one.Outcome == well {
			return true
		}
	}
	return false
}

// add appends a run.
func (r *results) add(t *testing.T, one result) {
	t.Helper()
	one.Agent, one.At = r.agent, time.Now().UTC().Truncate(time.Second)
	one.Outcome, _, _ = strings.Cut(one.Outcome, "\n")
	r.all = append(r.all, one)
	text, err := json.Marshal(one)
	must(t, err)
	f, err := os.OpenFile(r.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	_, err = f.Write(append(text, '\n'))
	must(t, errors.Join(err, f.Close()))
}

// tell prints the list of points and the figures of one role and fault. A point without a run
// counts neither as passed nor as failed.
func (r *results) tell(t *testing.T, role, fault string, points []string) {
	t.Helper()
	ran, bad := 0, 0
	var list strings.Builder
	for _, point := range points {
		outcome := r.outcome(role, fault, point)
		switch outcome {
		case "":
			outcome = "not run"
		case well:
			ran++
		default:
			ran, bad = ran+1, bad+1
		}
		list.WriteString("\n  " + point + ": " + outcome)
	}
	t.Logf("%s, %s at %d of %d points:%s", role, fault, ran, len(points), list.String())
	name := "agent_" + fault + "_" + strings.ReplaceAll(role, "-", "_")
	show(t, name+"_points", float64(ran), "points")
	show(t, name+"_failures", float64(bad), "failures")
}

// outcome returns the outcome of a point: success if any run passed, otherwise the last outcome, or
// empty if there was no run.
func (r *results) outcome(role, fault, point string) string {
	last := ""
	for _, one := range r.all {
		if one.Role == role && one.Point == point && one.Fault == fault {
			if last = one.Outcome; last == well {
				break
			}
		}
	}
	return last
}
