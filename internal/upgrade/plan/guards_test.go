package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// guards are all the places where the planner says no, by name.
func guards() []string {
	var out []string
	for _, g := range operationGates {
		out = append(out, g.name)
	}
	for _, gates := range [][]gate{orderGates, controlPlaneGates, applyGates, settleGates, beginGates} {
		for _, g := range gates {
			out = append(out, g.name)
		}
	}
	for _, g := range workerGates {
		out = append(out, g.name)
	}
	return append(out, "EverythingEverywhere", "AFewFetch", "AgentAnswers", "Cordoned", "Drained")
}

// caughtBy names, for each guard, the story that goes wrong without it.
var caughtBy = map[string]string{
	"NotAborted":             "abort",
	"OldestOperation":        "older-operation",
	"Approved":               "approval",
	"PlanUnchanged":          "plan-changes",
	"NotPaused":              "pause-on-host",
	"NoFailure":              "rolled-back",
	"ReleaseThere":           "release-missing",
	"IdentityKnown":          "worker-joins",
	"NothingElseAtWork":      "address-moves",
	"ControlPlaneReady":      "control-plane-not-ready",
	"FactsFresh":             "old-news",
	"EtcdHealthy":            "five-members",
	"EtcdKeepsQuorum":        "two-members-not-waived",
	"APIServersReady":        "server-not-ready",
	"APIServersFit":          "server-too-old",
	"KubeletsFit":            "worker-too-old-before",
	"IdentityStillKnown":     "another-machine",
	"StillNothingElseAtWork": "claimed-by-hand",
	"ControlPlaneStillReady": "control-plane-not-ready-in-drain",
	"FactsStillFresh":        "old-news-in-drain",
	"EtcdStillHealthy":       "five-members-in-drain",
	"EtcdStillKeepsQuorum":   "claimed-by-hand-without-quorum",
	"APIServersStillReady":   "server-not-ready-in-drain",
	"APIServersStillFit":     "server-too-old-in-drain",
	"KubeletsStillFit":       "worker-too-old",
	"KubeletStillNotNewer":   "kubelet-would-be-newer-in-drain",
	"FactsFreshAfter":        "old-news-after",
	"EtcdHealthyAfter":       "member-down-after",
	"APIServersReadyAfter":   "server-not-ready-after",
	"TrialPassed":            "pods-cut",
	"SlotStillFree":          "slot-lost",
	"ControlPlaneAtRest":     "worker-joins-late",
	"NodeReady":              "worker-not-ready",
	"KubeletNotNewer":        "kubelet-would-be-newer",
	"ZoneTurn":               "sliding-window",
	"CanaryProven":           "canary",
	"SlotFree":               "cordoned-by-hand",
	"WithinCeiling":          "three-hundred-at-once",
	"BudgetsApart":           "shared-budget",
	"EverythingEverywhere":   "ha-minor",
	"AFewFetch":              "ha-minor",
	"AgentAnswers":           "agent-dies-fetching",
	"Cordoned":               "uncordoned-by-hand",
	"Drained":                "blocked-wait",
}

// threeHundred is a story for this test only: nobody wants to read it.
var threeHundred = story{
	name: "three-hundred-at-once", scene: minor(shape(1, 300), road("v1.36.1", "v1.36.3", "v1.36.3"), atOnce(300)), lasts: 15 * time.Minute,
}

// TestEveryGuardIsNeeded takes every guard out in turn and requires that its story catches it: an invariant breaks, or Refit does something else.
// The golden file is the list of all guards and of what would happen without each.
func TestEveryGuardIsNeeded(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s %-34s %s\n", "GUARD", "STORY", "WITHOUT IT")
	for i, guard := range guards() {
		if slices.Contains(guards()[:i], guard) {
			t.Errorf("two guards are named %s: one of them could be taken out and nobody would see it", guard)
		}
		s := storyNamed(caughtBy[guard])
		if s == nil {
			t.Errorf("no story catches that %s is missing (caughtBy names %q)", guard, caughtBy[guard])
			continue
		}
		if whole := s.happen(nil); len(whole.breaks) > 0 {
			t.Errorf("%s goes wrong with every guard in its place: %v", s.name, whole.breaks)
		}
		wrong := s.without(guard)
		if wrong == "" {
			t.Errorf("%s ends as ever without %s: this guard does nothing, or the story is not about it", s.name, guard)
		}
		fmt.Fprintf(&table, "%-24s %-34s %s\n", guard, s.name, wrong)
	}
	for guard := range caughtBy {
		if !slices.Contains(guards(), guard) {
			t.Errorf("there is no guard %s any more", guard)
		}
	}
	golden(t, "guards", table.String())
}

func storyNamed(name string) *story {
	for _, s := range append(slices.Clone(stories), threeHundred) {
		if s.name == name {
			return &s
		}
	}
	return nil
}

// without says what goes wrong in a story when a guard is taken out, in an empty string if nothing does.
func (s *story) without(guard string) string {
	gone := s.happen(map[string]bool{guard: true})
	if len(gone.breaks) > 0 {
		return gone.breaks[0]
	}
	with, without := strings.Split(s.happen(nil).tale.String(), "\n"), strings.Split(gone.tale.String(), "\n")
	for i, line := range without {
		if i >= len(with) || line != with[i] {
			return line
		}
	}
	return ""
}
