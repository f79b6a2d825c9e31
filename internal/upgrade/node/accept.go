package node

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Refusal is why an order is not carried out. Nothing is changed on the host for it.
type Refusal struct {
	Reason  string // one CamelCase word
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Here is who this host is.
type Here struct {
	NodeName  string
	NodeUID   types.UID // empty while it is not known
	MachineID string
}

// The reasons of refusals.
const (
	RefusedFormat   = "FormatUnknown"
	RefusedMachine  = "OtherMachine"
	RefusedSequence = "StaleSequence"
	RefusedEpoch    = "StaleEpoch"
	RefusedBusy     = "OtherWorkUnfinished"
	RefusedRelease  = refitv1alpha1.ReasonReleaseRefused
	RefusedVersion  = "VersionLower"
)

// uid is what the UID of an object looks like.
var uid = regexp.MustCompile(`^[0-9a-zA-Z-]{1,36}$`)

// Accept says whether an order is for this host and newer than all that it has accepted. An order that was accepted before is none of these and is simply
// known: it returns false and no refusal.
func Accept(name string, order *refitv1alpha1.NodeUpgradeSpec, memory Memory, here Here) (bool, *Refusal) {
	refuse := func(reason, format string, args ...any) (bool, *Refusal) {
		return false, &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case !uid.MatchString(string(order.Operation.UID)):
		return refuse(RefusedFormat, "%q is no UID of an operation", order.Operation.UID)
	case order.Format < refitv1alpha1.MinOrderFormat || order.Format > refitv1alpha1.MaxOrderFormat:
		return refuse(RefusedFormat, "the order has format %d, this agent reads formats %d to %d: upgrade the agent",
			order.Format, refitv1alpha1.MinOrderFormat, refitv1alpha1.MaxOrderFormat)
	case name != here.NodeName:
		return refuse(RefusedMachine, "the order is for node %s, this is %s", name, here.NodeName)
	case order.MachineID != here.MachineID:
		return refuse(RefusedMachine, "the order is for the machine %s, this is %s", order.MachineID, here.MachineID)
	case here.NodeUID == "" || order.NodeUID != here.NodeUID:
		return refuse(RefusedMachine, "the order is for the Node with UID %s, this one has %q", order.NodeUID, here.NodeUID)
	// A node that joined another cluster is led by others, whose epochs have nothing to do with those of before.
	case order.Epoch < memory.Epoch && (memory.NodeUID == "" || memory.NodeUID == order.NodeUID):
		return refuse(RefusedEpoch, "the order is of epoch %d, and epoch %d was seen: whoever wrote it no longer leads", order.Epoch, memory.Epoch)
	case order.Sequence < memory.Sequence:
		return refuse(RefusedSequence, "the order has sequence %d, and %d was accepted before: it is from the past", order.Sequence, memory.Sequence)
	case order.Sequence == memory.Sequence:
		return false, nil
	}
	return true, nil
}

// Upward says whether a host may move to a version: never below what it runs or was proven at.
func Upward(memory Memory, running, to string) *Refusal {
	target, err := skew.Parse(to)
	if err != nil {
		return &Refusal{Reason: RefusedVersion, Message: err.Error()}
	}
	for _, have := range []string{running, memory.Highest} {
		if have == "" {
			continue
		}
		v, err := skew.Parse(have)
		if err != nil {
			return &Refusal{Reason: RefusedVersion, Message: fmt.Sprintf("what runs here is not known to be older than %s: %v", to, err)}
		}
		if target.Before(v) {
			message := fmt.Sprintf("the ClusterRelease brings %s, and this host has been at %s: Refit never goes down", to, have)
			return &Refusal{Reason: RefusedVersion, Message: message}
		}
	}
	return nil
}
