package node

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const machine = "0123456789abcdef0123456789abcdef"

func TestAccept(t *testing.T) {
	memory := Memory{MachineID: machine, Sequence: 7, Epoch: 3}
	here := Here{NodeName: "worker-1", NodeUID: "uid-1", MachineID: machine}
	good := refitv1alpha1.NodeUpgradeSpec{Format: 1, Operation: refitv1alpha1.Operation{Name: "op", UID: "op-1"}, NodeUID: "uid-1", MachineID: machine, Sequence: 8, Epoch: 3}
	for _, situation := range []struct {
		name   string
		object string
		change func(*refitv1alpha1.NodeUpgradeSpec)
		here   func(*Here)
		accept bool
		reason string
	}{
		{name: "a newer order", accept: true},
		{name: "a newer order of a newer leader", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Epoch = 4 }, accept: true},
		{name: "the order that was accepted", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Sequence = 7 }},
		{name: "an order from the past", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Sequence = 6 }, reason: RefusedSequence},
		{name: "an order of a deposed leader", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Epoch = 2 }, reason: RefusedEpoch},
		{name: "an order for another machine", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.MachineID = "f" + machine[1:] }, reason: RefusedMachine},
		{name: "an order for a node that joined anew", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.NodeUID = "uid-0" }, reason: RefusedMachine},
		{
			name: "an order while the node's UID is not known", here: func(h *Here) { h.NodeUID = "" },
			change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.NodeUID = types.UID("") }, reason: RefusedMachine,
		},
		{name: "an object of another node", object: "worker-2", reason: RefusedMachine},
		{name: "an order of a format to come", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Format = refitv1alpha1.MaxOrderFormat + 1 }, reason: RefusedFormat},
		{name: "an operation whose UID is a path", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Operation.UID = "../../etc/x" }, reason: RefusedFormat},
		{name: "an order without a format", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Format = 0 }, reason: RefusedFormat},
	} {
		t.Run(situation.name, func(t *testing.T) {
			spec, at, name := good, here, "worker-1"
			if situation.change != nil {
				situation.change(&spec)
			}
			if situation.here != nil {
				situation.here(&at)
			}
			if situation.object != "" {
				name = situation.object
			}
			ok, refusal := Accept(name, &spec, memory, at)
			if ok != situation.accept || (refusal == nil) != (situation.reason == "") || (refusal != nil && refusal.Reason != situation.reason) {
				t.Errorf("accepted %v, refused %+v", ok, refusal)
			}
		})
	}
}

func TestUpward(t *testing.T) {
	for _, situation := range []struct {
		name, highest, running, to string
		refused                    bool
	}{
		{"up", "", "v1.35.4", "v1.36.3", false},
		{"the same again", "v1.36.3", "v1.36.3", "v1.36.3", false},
		{"below what runs", "", "v1.36.3", "v1.35.4", true},
		{"below what was proven, after a way back", "v1.36.3", "v1.35.4", "v1.36.2", true},
		{"what runs is not known", "", "development", "v1.36.3", true},
		{"no version", "", "v1.35.4", "latest", true},
	} {
		t.Run(situation.name, func(t *testing.T) {
			if refusal := Upward(Memory{Highest: situation.highest}, situation.running, situation.to); (refusal != nil) != situation.refused {
				t.Errorf("refusal %+v", refusal)
			}
		})
	}
}
