package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// everyGate is all gates, by what they hold back.
func everyGate() []GateName {
	var out []GateName
	for _, group := range gateTable {
		for _, g := range group.gates {
			out = append(out, g.name)
		}
	}
	return out
}

// caughtBy names, for each gate, the story that goes wrong without it.
var caughtBy = map[GateName]string{
	GateNotAborted:               "abort",
	GateOldestOperation:          "older-operation",
	GateApproved:                 "approval",
	GatePlanUnchanged:            "plan-changes",
	GateNotPaused:                "pause-on-host",
	GateNoFailedNode:             "rolled-back",
	GateReleaseAvailable:         "release-missing",
	GateMachineKnown:             "worker-joins",
	GatePrefetchSlotFree:         "ha-minor",
	GatePrefetchComplete:         "ha-minor",
	GatePrefetched:               "plan-changes",
	GateNothingElseActive:        "address-moves",
	GateControlPlaneReady:        "control-plane-not-ready",
	GateReportsFresh:             "old-news",
	GateEtcdHealthy:              "five-members",
	GateEtcdKeepsQuorum:          "two-members-not-waived",
	GateAPIServersReady:          "server-not-ready",
	GateAPIServerSkew:            "server-too-old",
	GateKubeletSkew:              "worker-too-old-before",
	GateWorkerPrefetched:         "pause",
	GateControlPlaneIdle:         "worker-joins-late",
	GateWorkerReady:              "worker-not-ready",
	GateKubeletNotNewer:          "kubelet-would-be-newer",
	GateZoneTurn:                 "sliding-window",
	GateCanaryProven:             "canary",
	GateSlotFree:                 "cordoned-by-hand",
	GateActiveLimit:              "three-hundred-at-once",
	GateBudgetsIndependent:       "shared-budget",
	GateClaimedFirst:             "claimed-by-hand",
	GateSlotStillFree:            "slot-lost",
	GateStillPrefetched:          "node-reinstalled",
	GateCordoned:                 "uncordoned-by-hand",
	GateDrained:                  "blocked-wait",
	GateMachineStillKnown:        "another-machine",
	GateStillNothingElseActive:   "claimed-by-hand",
	GateControlPlaneStillReady:   "control-plane-not-ready-in-drain",
	GateReportsStillFresh:        "old-news-in-drain",
	GateEtcdStillHealthy:         "five-members-in-drain",
	GateEtcdStillKeepsQuorum:     "claimed-by-hand-without-quorum",
	GateAPIServersStillReady:     "server-not-ready-in-drain",
	GateAPIServerSkewStill:       "server-too-old-in-drain",
	GateKubeletSkewStill:         "worker-too-old",
	GateKubeletStillNotNewer:     "kubelet-would-be-newer-in-drain",
	GateNodeReachable:            "host-lost",
	GateAgentResponds:            "agent-dies-fetching",
	GateReadyAfter:               "not-ready-after",
	GateVersionReported:          "version-reported-late",
	GateReportsFreshAfter:        "old-news-after",
	GateEtcdHealthyAfter:         "member-down-after",
	GateAPIServersReadyAfter:     "server-not-ready-after",
	GateTrialPassed:              "pods-cut",
	GateReadyAfterRollback:       "not-ready-after-rollback",
	GateControlPlaneHealthyAtEnd: "member-down-at-end",
	GateNothingActive:            "abort",
}

// threeHundred is a story for this test only: nobody wants to read it.
var threeHundred = story{
	name: "three-hundred-at-once", scene: minor(shape(1, 300), road("v1.36.1", "v1.36.3", "v1.36.3"), atOnce(300)), lasts: 15 * time.Minute,
}

// TestEveryGateIsNeeded takes each gate out in turn and requires its story to fail: an invariant
// breaks, or Refit does something else. The golden file lists what happens without each gate.
func TestEveryGateIsNeeded(t *testing.T) {
	var table strings.Builder
	for _, group := range gateTable {
		fmt.Fprintf(&table, "%s: holds %s\n", group.holds, group.doc)
		for _, g := range group.gates {
			if g.doc == "" {
				t.Errorf("gate %s is not documented", g.name)
			}
			s, wrong := withoutGate(t, g.name)
			fmt.Fprintf(&table, "  %-24s %s\n  %24s without it, in %s: %s\n", g.name, g.doc, "", s, wrong)
		}
	}
	golden(t, "gates", table.String())
}

func TestGatesHaveNamesOfTheirOwn(t *testing.T) {
	all := everyGate()
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			t.Errorf("two gates are named %s: one of them could be taken out unnoticed", name)
		}
	}
	for name := range caughtBy {
		if !slices.Contains(all, name) {
			t.Errorf("caughtBy names the gate %s, which does not exist", name)
		}
	}
}

// withoutGate returns the story that proves a gate, and what goes wrong in it without the gate.
func withoutGate(t *testing.T, name GateName) (in, wrong string) {
	t.Helper()
	s := storyNamed(caughtBy[name])
	if s == nil {
		t.Errorf("no story fails without gate %s (caughtBy names %q)", name, caughtBy[name])
		return "", ""
	}
	if whole := s.happen(""); len(whole.breaks) > 0 {
		t.Errorf("%s fails with every gate in place: %v", s.name, whole.breaks)
	}
	if wrong = s.without(name); wrong == "" {
		t.Errorf("%s does not change without gate %s: the gate does nothing, or the story is not about it", s.name, name)
	}
	return s.name, wrong
}

func storyNamed(name string) *story {
	for _, s := range append(slices.Clone(stories), threeHundred) {
		if s.name == name {
			return &s
		}
	}
	return nil
}

// without says what goes wrong in a story when a gate is taken out, in an empty string if nothing does.
func (s *story) without(gate GateName) string {
	gone := s.happen(gate)
	if len(gone.breaks) > 0 {
		return gone.breaks[0]
	}
	with, without := strings.Split(s.happen("").tale.String(), "\n"), strings.Split(gone.tale.String(), "\n")
	for i, line := range without {
		switch {
		case i >= len(with) || line != with[i] && line != "":
			return line
		case line != with[i]:
			return "nothing happens from here on: " + with[i]
		}
	}
	return ""
}
