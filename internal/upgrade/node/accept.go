package node

import (
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Refusal is why an agent refuses an order. A refused order changes nothing on the host.
type Refusal struct {
	Reason  string // one CamelCase word
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Identity identifies this host.
type Identity struct {
	NodeName  string
	NodeUID   types.UID // empty while unknown
	MachineID string
}

// The reasons of refusals.
const (
	RefusedFormat   = "FormatUnknown"
	RefusedMachine  = "OtherMachine"
	RefusedSequence = "StaleSequence"
	RefusedEpoch    = "StaleEpoch"
	RefusedTooHigh  = "NumberTooHigh"
	RefusedBusy     = "UpgradeInProgress"
	RefusedRelease  = refitv1alpha1.ReasonReleaseRefused
	RefusedVersion  = "Downgrade"
)

var uid = regexp.MustCompile(`^[0-9a-zA-Z-]{1,36}$`)

// Accept reports whether an order is for this host and newer than every order that the host
// accepted. For an order that was accepted before it returns false and no refusal.
func Accept(name string, order *refitv1alpha1.NodeUpgradeSpec, host HostState, id Identity, now time.Time) (bool, *Refusal) {
	refuse := func(reason, format string, args ...any) (bool, *Refusal) {
		return false, &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case !uid.MatchString(string(order.Operation.UID)) && (order.Operation.UID != "" || !withoutOperation(order.Permit)):
		return refuse(RefusedFormat, "operation.uid of the order is not valid: %q", order.Operation.UID)
	case order.Permit == refitv1alpha1.PermitBackup && (!uid.MatchString(string(order.Backup.UID)) || order.Backup.Attempt < 1):
		return refuse(RefusedFormat, "backup of the order is not valid: %q, attempt %d", order.Backup.UID, order.Backup.Attempt)
	case order.Format < refitv1alpha1.MinOrderFormat || order.Format > refitv1alpha1.MaxOrderFormat:
		return refuse(RefusedFormat, "the order has format %d, but this agent supports formats %d to %d: upgrade the agent",
			order.Format, refitv1alpha1.MinOrderFormat, refitv1alpha1.MaxOrderFormat)
	case name != id.NodeName:
		return refuse(RefusedMachine, "the order is for node %s, but this is node %s", name, id.NodeName)
	case order.MachineID != id.MachineID:
		return refuse(RefusedMachine, "the order is for machine %s, but this is machine %s", order.MachineID, id.MachineID)
	case id.NodeUID == "" || order.NodeUID != id.NodeUID:
		return refuse(RefusedMachine, "the order is for the Node with UID %s, but this Node has UID %q", order.NodeUID, id.NodeUID)
	case order.Sequence > MaxFence(now) || order.Epoch > MaxFence(now):
		return refuse(RefusedTooHigh, "the order has sequence %d and epoch %d, but this host accepts none above %d, its clock: if the clock is right, "+
			"find out who wrote the order, then run `kubectl delete nodeupgrades.refit.dev %s`, and `refit retry`",
			order.Sequence, order.Epoch, MaxFence(now), name)
	// A node that joined another cluster has other leaders, whose epochs start over.
	case order.Epoch < host.Epoch && (host.NodeUID == "" || host.NodeUID == order.NodeUID):
		return refuse(RefusedEpoch, "the order has epoch %d, but this host accepted epoch %d: its author is no longer the leader", order.Epoch, host.Epoch)
	case order.Sequence < host.Sequence:
		return refuse(RefusedSequence, "the order has sequence %d, but this host accepted sequence %d: the order is stale", order.Sequence, host.Sequence)
	// After a restore of etcd, another order may have the sequence of one that was lost.
	case order.Sequence == host.Sequence && order.Epoch != host.Epoch && host.NodeUID == order.NodeUID:
		return refuse(RefusedSequence, "the order has sequence %d and epoch %d, but this host accepted that sequence in epoch %d",
			order.Sequence, order.Epoch, host.Epoch)
	case order.Sequence == host.Sequence:
		return false, nil
	}
	return true, nil
}

// withoutOperation reports whether an order with a permit may belong to no operation: a backup can
// be the first order to a node, and Hold withdraws it.
func withoutOperation(permit refitv1alpha1.Permit) bool {
	return permit == refitv1alpha1.PermitBackup || permit == refitv1alpha1.PermitHold
}

// RefuseDowngrade refuses a version below the one that runs on the host, or that was ever verified
// on it.
func RefuseDowngrade(host HostState, running, to string) *Refusal {
	target, err := skew.Parse(to)
	if err != nil {
		return &Refusal{Reason: RefusedVersion, Message: err.Error()}
	}
	for _, have := range []string{running, host.Highest} {
		if have == "" {
			continue
		}
		v, err := skew.Parse(have)
		if err != nil {
			return &Refusal{Reason: RefusedVersion, Message: fmt.Sprintf("cannot determine whether the running version is older than %s: %v", to, err)}
		}
		if target.Before(v) {
			message := fmt.Sprintf("the ClusterRelease has version %s, but this host ran %s: Refit does not downgrade", to, have)
			return &Refusal{Reason: RefusedVersion, Message: message}
		}
	}
	return nil
}
