package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// gateNames are the names of all gates.
func gateNames() []GateName {
	var out []GateName
	for _, group := range gateTable {
		for _, g := range group.gates {
			out = append(out, g.name)
		}
	}
	return out
}

// provenBy names, for each gate, the story that fails without it.
var provenBy = map[GateName]string{
	GateNotAborted:               "abort",
	GatePlanKnown:                "release-deleted",
	GatePreflightPassed:          "preflight-blocks",
	GateClockRight:               "controller-clock-wrong",
	GateOldestOperation:          "older-operation",
	GateApproved:                 "approval",
	GatePlanUnchanged:            "plan-changes",
	GateNotPaused:                "pause-while-upgrading",
	GateNoFailedNode:             "rolled-back",
	GateNoFailedComponent:        "component-fails",
	GateReleaseAvailable:         "release-missing",
	GateHostFree:                 "changed-for-another",
	GateMachineKnown:             "worker-joins",
	GatePrefetchInWindow:         "window-prefetch",
	GatePrefetchSlotFree:         "ha-minor",
	GateBackupBeforeWindow:       "window",
	GatePrefetchComplete:         "ha-minor",
	GateBackupProven:             "backup-proven",
	GateComponentFree:            "component-taken",
	GateComponentAlone:           "component-beside-another",
	GateComponentFits:            "window-component",
	GateOfferApproved:            "component-blocked",
	GateComponentsRespond:        "component-agent-stopped",
	GatePrefetched:               "plan-changes",
	GateControlPlaneFits:         "window",
	GateNothingElseActive:        "address-moves",
	GateComponentsIdle:           "component-beside-control-plane",
	GateControlPlaneReady:        "control-plane-not-ready",
	GateReportsFresh:             "stale-reports",
	GateEtcdHealthy:              "five-members",
	GateEtcdKeepsQuorum:          "two-members-not-waived",
	GateAPIServersReady:          "server-not-ready",
	GateEndpointAnswers:          "endpoint-silent",
	GateAPIServerSkew:            "server-too-old",
	GateKubeletSkew:              "worker-too-old-before",
	GateWorkerPrefetched:         "pause",
	GateWorkerFits:               "window",
	GateControlPlaneIdle:         "worker-joins-late",
	GateWorkerReady:              "worker-not-ready",
	GateKubeletNotNewer:          "kubelet-would-be-newer",
	GateZoneTurn:                 "sliding-window",
	GateCanaryProven:             "canary",
	GateSlotFree:                 "cordoned-by-hand",
	GateActiveLimit:              "three-hundred-at-once",
	GateBudgetsIndependent:       "shared-budget",
	GateChangeStillFits:          "window-drain",
	GateClaimedFirst:             "claimed-by-hand",
	GateBackupStillProven:        "backup-claimed-by-hand",
	GateComponentsFirst:          "component-claimed-by-hand",
	GateSlotStillFree:            "slot-lost",
	GateRetryFits:                "window-retry",
	GateStillPrefetched:          "node-reinstalled",
	GateCordoned:                 "uncordoned-by-hand",
	GateProtected:                "patch",
	GateDrained:                  "blocked-wait",
	GateMachineStillKnown:        "another-machine",
	GateStillNothingElseActive:   "claimed-by-hand",
	GateControlPlaneStillReady:   "control-plane-not-ready-in-drain",
	GateReportsStillFresh:        "stale-reports-in-drain",
	GateEtcdStillHealthy:         "five-members-in-drain",
	GateEtcdStillKeepsQuorum:     "claimed-by-hand-without-quorum",
	GateAPIServersStillReady:     "server-not-ready-in-drain",
	GateEndpointStillAnswers:     "endpoint-silent-in-drain",
	GateAPIServerSkewStill:       "server-too-old-in-drain",
	GateKubeletSkewStill:         "worker-too-old",
	GateKubeletStillNotNewer:     "kubelet-would-be-newer-in-drain",
	GateNodeReachable:            "node-lost",
	GateAgentResponds:            "agent-stops-prefetching",
	GateAgentProceeds:            "agent-waits",
	GateReadyAfter:               "not-ready-after",
	GateVersionReported:          "version-reported-late",
	GateTrialStarted:             "ha-minor",
	GateReportsFreshAfter:        "stale-reports-after",
	GateEtcdHealthyAfter:         "member-down-after",
	GateAPIServersReadyAfter:     "server-not-ready-after",
	GateEndpointAnswersAfter:     "address-held-twice",
	GateTrialPassed:              "pods-disconnected",
	GateReadyAfterRollback:       "not-ready-after-rollback",
	GateControlPlaneHealthyAtEnd: "member-down-at-end",
	GateNothingActive:            "abort",
}

// threeHundredNodes is a story for this test only: it is too long to read.
var threeHundredNodes = story{
	name: "three-hundred-at-once", scenario: minor(shape(1, 300), upgradePath("v1.36.1", "v1.36.3", "v1.36.3"), atOnce(300)), duration: 15 * time.Minute,
}

// TestEveryGateIsNeeded removes each gate in turn and requires its story to fail: an invariant
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

func TestGateNamesAreUnique(t *testing.T) {
	all := gateNames()
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			t.Errorf("two gates are named %s: one of them could be removed unnoticed", name)
		}
	}
	for name := range provenBy {
		if !slices.Contains(all, name) {
			t.Errorf("provenBy names the gate %s, which does not exist", name)
		}
	}
}

// withoutGate returns the story that proves a gate, and what goes wrong in it without the gate.
func withoutGate(t *testing.T, name GateName) (in, wrong string) {
	t.Helper()
	s := storyNamed(provenBy[name])
	if s == nil {
		t.Errorf("no story fails without gate %s (provenBy names %q)", name, provenBy[name])
		return "", ""
	}
	if whole := s.run(""); len(whole.violations) > 0 {
		t.Errorf("%s fails with every gate in place: %v", s.name, whole.violations)
	}
	if wrong = s.failsWithout(name); wrong == "" {
		t.Errorf("%s does not change without gate %s: the gate does nothing, or the story is not about it", s.name, name)
	}
	return s.name, wrong
}

func storyNamed(name string) *story {
	for _, s := range append(slices.Clone(stories), threeHundredNodes) {
		if s.name == name {
			return &s
		}
	}
	return nil
}

// failsWithout returns what goes wrong in a story without a gate, empty if nothing does.
func (s *story) failsWithout(gate GateName) string {
	gone := s.run(gate)
	if len(gone.violations) > 0 {
		return gone.violations[0]
	}
	with, without := strings.Split(s.run("").narrative.String(), "\n"), strings.Split(gone.narrative.String(), "\n")
	for i, line := range without {
		switch {
		case i >= len(with) || line != with[i] && line != "":
			return line
		case line != with[i]:
			return "nothing happens after this: " + with[i]
		}
	}
	return ""
}
