package node

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const machine = "0123456789abcdef0123456789abcdef"

func TestAccept(t *testing.T) {
	host := HostState{MachineID: machine, NodeUID: "uid-1", Sequence: 7, Epoch: 3}
	id := Identity{NodeName: "worker-1", NodeUID: "uid-1", MachineID: machine}
	good := refitv1alpha1.NodeUpgradeSpec{Format: 1, Operation: refitv1alpha1.Operation{Name: "op", UID: "op-1"}, NodeUID: "uid-1", MachineID: machine, Sequence: 8, Epoch: 3}
	for _, situation := range []struct {
		name   string
		object string
		change func(*refitv1alpha1.NodeUpgradeSpec)
		id     func(*Identity)
		accept bool
		reason string
	}{
		{name: "a newer order", accept: true},
		{name: "a newer order from a newer leader", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Epoch = 4 }, accept: true},
		{name: "the accepted order", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Sequence = 7 }},
		{
			name:   "another order with the sequence of the accepted one, after a restore of etcd",
			change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Sequence, s.Epoch = 7, 4 }, reason: RefusedSequence,
		},
		{name: "a stale order", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Sequence = 6 }, reason: RefusedSequence},
		{name: "an order from a former leader", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Epoch = 2 }, reason: RefusedEpoch},
		{name: "an order for another machine", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.MachineID = "f" + machine[1:] }, reason: RefusedMachine},
		{name: "an order for a node that was replaced", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.NodeUID = "uid-0" }, reason: RefusedMachine},
		{
			name: "an order while the UID of the node is unknown", id: func(id *Identity) { id.NodeUID = "" },
			change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.NodeUID = types.UID("") }, reason: RefusedMachine,
		},
		{name: "an object of another node", object: "worker-2", reason: RefusedMachine},
		{name: "an order with a future format", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Format = refitv1alpha1.MaxOrderFormat + 1 }, reason: RefusedFormat},
		{name: "an operation whose UID is a path", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Operation.UID = "../../etc/x" }, reason: RefusedFormat},
		{name: "an order without a format", change: func(s *refitv1alpha1.NodeUpgradeSpec) { s.Format = 0 }, reason: RefusedFormat},
	} {
		t.Run(situation.name, func(t *testing.T) {
			spec, at, name := good, id, "worker-1"
			if situation.change != nil {
				situation.change(&spec)
			}
			if situation.id != nil {
				situation.id(&at)
			}
			if situation.object != "" {
				name = situation.object
			}
			ok, refusal := Accept(name, &spec, host, at, time.Unix(1e9, 0))
			if ok != situation.accept || (refusal == nil) != (situation.reason == "") || (refusal != nil && refusal.Reason != situation.reason) {
				t.Errorf("accepted %v, refused %+v", ok, refusal)
			}
		})
	}
}

func TestRefuseDowngrade(t *testing.T) {
	for _, situation := range []struct {
		name, highest, running, to string
		refused                    bool
	}{
		{"upgrade", "", "v1.35.4", "v1.36.3", false},
		{"same version", "v1.36.3", "v1.36.3", "v1.36.3", false},
		{"below the running version", "", "v1.36.3", "v1.35.4", true},
		{"below the verified version, after a rollback", "v1.36.3", "v1.35.4", "v1.36.2", true},
		{"unknown running version", "", "development", "v1.36.3", true},
		{"invalid version", "", "v1.35.4", "latest", true},
	} {
		t.Run(situation.name, func(t *testing.T) {
			if refusal := RefuseDowngrade(HostState{Highest: situation.highest}, situation.running, situation.to); (refusal != nil) != situation.refused {
				t.Errorf("refusal %+v", refusal)
			}
		})
	}
}

// F34: after a restore of etcd, the orders of the cluster are older than those that the host
// accepted. None of them is repeated, and a new leader's order above both numbers is accepted.
func TestF34OrdersOfARestoredClusterAreNotRepeated(t *testing.T) {
	id := Identity{NodeName: "worker-1", NodeUID: "uid-1", MachineID: machine}
	host := HostState{MachineID: machine, NodeUID: "uid-1", Sequence: 9, Epoch: 5}
	order := func(sequence, epoch int64) *refitv1alpha1.NodeUpgradeSpec {
		return &refitv1alpha1.NodeUpgradeSpec{
			Format: 1, Operation: refitv1alpha1.Operation{Name: "op", UID: "op-1"}, NodeUID: "uid-1", MachineID: machine, Sequence: sequence, Epoch: epoch,
		}
	}
	for sequence := int64(1); sequence <= 9; sequence++ {
		for epoch := int64(1); epoch <= 6; epoch++ {
			if ok, _ := Accept("worker-1", order(sequence, epoch), host, id, time.Unix(1e9, 0)); ok {
				t.Errorf("the order with sequence %d and epoch %d is repeated", sequence, epoch)
			}
		}
	}
	if ok, refusal := Accept("worker-1", order(10, 6), host, id, time.Unix(1e9, 0)); !ok {
		t.Errorf("the order of a new leader is refused: %v", refusal)
	}
}
