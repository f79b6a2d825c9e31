//go:build e2e

package serve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// The times that a page may take to show a change.
const (
	downShownWithin = 3 * time.Second
	backShownWithin = 2 * time.Second
	stepShownWithin = 2 * time.Second
	// slack is for what lies between the change and the observer: whole seconds in the times of
	// steps, the interval of the samples, the clock of the page.
	slack = 1500 * time.Millisecond
)

// interrupting are the steps that stop the API server or its etcd member.
var interrupting = []string{"swap-etcd", "swap-apiserver"}

// statements are what the page states at one moment: web/tests/upgrade/statements.ts.
type statements struct {
	At          time.Time `json:"at"`
	Serve       string    `json:"serve"`
	API         string    `json:"api"`
	Agent       string    `json:"agent"`
	Banner      string    `json:"banner"`
	Explanation string    `json:"explanation"`
	Title       string    `json:"title"`
	Phase       string    `json:"phase"`
	Ages        []string  `json:"ages"`
}

// judge compares statements with the truth.
type judge struct {
	truth *truth
	steps []cliv1alpha1.HostStep
}

// lies returns what is false in the statements of one moment.
func (j *judge) lies(s *statements) (out []string) {
	if s.Serve != "live" { // it states nothing about the API server
		if s.API != "unknown" && s.API != "" {
			out = append(out, "without a connection to the server it states "+s.API)
		}
		return out
	}
	unreachable := strings.HasPrefix(s.API, "unreachable")
	recent := j.truth.between(s.At.Add(-downShownWithin-slack), s.At)
	if s.API == "answers" && len(recent) > 0 && !slices.ContainsFunc(recent, answered) {
		out = append(out, "it states that the API server answers")
	}
	recent = j.truth.between(s.At.Add(-backShownWithin-slack), s.At)
	if unreachable && len(recent) > 0 && !slices.ContainsFunc(recent, silent) {
		out = append(out, "it states that the API server is unreachable")
	}
	if unreachable && s.Phase != "" && len(s.Ages) == 0 {
		out = append(out, "it shows old data as if it were current")
	}
	return append(append(out, j.explanation(s)...), j.phase(s)...)
}

func answered(s sample) bool { return s.answered }
func silent(s sample) bool   { return !s.answered }

// explanation judges which step the page blames for an outage.
func (j *judge) explanation(s *statements) (out []string) {
	if !strings.Contains(s.Banner, "as expected") {
		return nil
	}
	if !slices.ContainsFunc(j.steps, func(step cliv1alpha1.HostStep) bool {
		return slices.Contains(interrupting, step.Name) && j.near(step, s.At)
	}) {
		out = append(out, "it states that the outage is expected")
	}
	for _, step := range j.steps {
		if strings.Contains(s.Explanation, " is at "+step.Name+" ") && !j.near(step, s.At) {
			out = append(out, "it states that the node is at "+step.Name)
		}
	}
	return out
}

// near reports whether a step was in progress at a time, or so shortly before that the page may
// still show it.
func (j *judge) near(step cliv1alpha1.HostStep, at time.Time) bool {
	end := step.CompletionTime
	return !step.StartTime.After(at.Add(slack)) && (end.IsZero() || end.Add(stepShownWithin+slack).After(at))
}

// phase judges the phase of the upgrade: one of the last that were true before the outage, or
// since.
func (j *judge) phase(s *statements) []string {
	if s.Phase == "" {
		return nil
	}
	from := s.At.Add(-backShownWithin - slack)
	seen := j.truth.between(from, s.At.Add(slack))
	if !slices.ContainsFunc(seen, answered) { // the last one before the outage
		before := slices.DeleteFunc(j.truth.between(time.Time{}, from), silent)
		seen = before[max(0, len(before)-1):]
	} else if seen[0].answered == false {
		before := slices.DeleteFunc(j.truth.between(time.Time{}, from), silent)
		seen = append(seen, before[max(0, len(before)-1):]...)
	}
	if slices.ContainsFunc(seen, func(t sample) bool { return shown(t.phase) == s.Phase }) {
		return nil
	}
	return []string{fmt.Sprintf("it states that the upgrade is %s", s.Phase)}
}

// shown is how a page shows a phase.
func shown(phase string) string {
	if phase == "AwaitingApproval" {
		return "Awaiting approval"
	}
	return phase
}

// A judge that accepts everything would make the run worthless.
func TestTheJudgeSeesLies(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	o := &truth{down: make(chan struct{})}
	for i := range 100 { // down from 10 to 30 s
		from := at(float64(i) / 2)
		o.add(sample{from: from, to: from.Add(100 * time.Millisecond), answered: i < 20 || i >= 60, phase: "Running"})
	}
	j := &judge{truth: o, steps: []cliv1alpha1.HostStep{
		{Name: "swap-apiserver", StartTime: at(9), CompletionTime: at(20)}, {Name: "swap-kubelet", StartTime: at(20), CompletionTime: at(40)},
	}}
	last := []string{"last known, 4 s ago"}
	expected := "The API server is unreachable, as expected"
	for situation, c := range map[string]struct {
		s    statements
		lies int
	}{
		"nothing happens":             {statements{At: at(5), Serve: "live", API: "answers", Phase: "Running"}, 0},
		"not yet noticed":             {statements{At: at(12), Serve: "live", API: "answers", Phase: "Running"}, 0},
		"an outage is denied":         {statements{At: at(18), Serve: "live", API: "answers", Phase: "Running"}, 1},
		"an outage is shown":          {statements{At: at(18), Serve: "live", API: "unreachable for 0:08", Phase: "Running", Ages: last}, 0},
		"old data without an age":     {statements{At: at(18), Serve: "live", API: "unreachable for 0:08", Phase: "Running"}, 1},
		"an outage is invented":       {statements{At: at(8), Serve: "live", API: "unreachable for 0:01", Phase: "Running", Ages: last}, 1},
		"an outage that is over":      {statements{At: at(36), Serve: "live", API: "unreachable for 0:26", Phase: "Running", Ages: last}, 1},
		"a step explains it":          {statements{At: at(18), Serve: "live", API: "unreachable for 0:08", Banner: expected, Explanation: "cp is at swap-apiserver for 0:08"}, 0},
		"a step that is over":         {statements{At: at(28), Serve: "live", API: "unreachable for 0:18", Banner: expected, Explanation: "cp is at swap-apiserver for 0:18"}, 2},
		"another phase":               {statements{At: at(5), Serve: "live", API: "answers", Phase: "Succeeded"}, 1},
		"another phase in the outage": {statements{At: at(18), Serve: "live", API: "unreachable", Phase: "Succeeded", Ages: last}, 1},
		"no server":                   {statements{At: at(18), Serve: "disconnected for 3 s", API: "unknown", Phase: "Running"}, 0},
		"no server, but a statement":  {statements{At: at(18), Serve: "disconnected for 3 s", API: "answers"}, 1},
	} {
		if got := j.lies(&c.s); len(got) != c.lies {
			t.Errorf("%s: %d lies, want %d: %s", situation, len(got), c.lies, strings.Join(got, "; "))
		}
	}
}
