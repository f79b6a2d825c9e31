package progress

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestARemedyNamesRetryOnce(t *testing.T) {
	for situation, tt := range map[string]struct{ remedy, want string }{
		"the agent's remedy has it":     {"Free the disk, then run `refit retry`", "Free the disk, then run `refit retry`"},
		"the agent's remedy does not":   {"Free the disk", "Free the disk. Then run `refit retry`"},
		"its remedy ends with a period": {"Free the disk.", "Free the disk. Then run `refit retry`"},
		"the agent has no remedy":       {"", "Fix the cause, then run `refit retry`"},
	} {
		t.Run(situation, func(t *testing.T) {
			n := order("worker-1", "v1.36.3", refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed)
			n.Status.Error = &refitv1alpha1.NodeError{Message: "no space left on device", Remedy: tt.remedy}
			e := NewExplanation("prod", "refit", Known{Node: Node{Name: "worker-1"}, Order: n, Operation: upgrade()})
			if e.Remedy != tt.want {
				t.Errorf("the remedy is %q, want %q", e.Remedy, tt.want)
			}
		})
	}
}

func TestARemedyIsThatOfTheOperationsWait(t *testing.T) {
	const remedy = "Check its kubelet. If the host does not come back, run `refit abandon worker-1`"
	u := upgrade()
	u.Status.Active = []string{"worker-1"}
	u.Status.Waiting = []refitv1alpha1.WaitingFor{
		{Node: "worker-2", Message: "worker-2 is not ready", Remedy: "another", ActionRequired: true},
		{Node: "worker-1", Message: "worker-1 is not ready", Remedy: remedy, ActionRequired: true},
	}
	n := order("worker-1", "v1.36.3", refitv1alpha1.PermitApply, refitv1alpha1.NodeApplying)
	e := NewExplanation("prod", "refit", Known{Node: Node{Name: "worker-1"}, Order: n, Operation: u})
	if want := "The agent upgrades the host. worker-1 is not ready."; e.Remedy != remedy || e.Message != want {
		t.Errorf("%q, remedy %q", e.Message, e.Remedy)
	}
}

func TestTheHolderOfAVirtualIPIsLast(t *testing.T) {
	k := func(addresses ...string) Known {
		report := &refitv1alpha1.NodeReport{Status: refitv1alpha1.NodeReportStatus{
			Addresses: addresses, VirtualIPs: []refitv1alpha1.VirtualIPFacts{{Address: "10.0.0.100", Software: refitv1alpha1.Keepalived}},
		}}
		return Known{Node: Node{Name: "cp-1", ControlPlane: true}, Report: report, Operation: upgrade()}
	}
	const holds = "It holds the virtual IP 10.0.0.100, and the holder of the API endpoint's address is the last control plane node"
	if e := NewExplanation("prod", "refit", k("10.0.0.1", "10.0.0.100")); !strings.Contains(e.Message, holds) {
		t.Errorf("the holder: %s", e.Message)
	}
	if e := NewExplanation("prod", "refit", k("10.0.0.1")); strings.Contains(e.Message, holds) {
		t.Errorf("another node: %s", e.Message)
	}
}
