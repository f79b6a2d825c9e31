package node

import (
	"math"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// An order of an attacker who wrote NodeUpgrades for a while must not leave a host without any
// higher sequence or epoch to accept.
func TestHostileOrderDoesNotLockOutAHost(t *testing.T) {
	now := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	host := HostState{MachineID: machine, NodeUID: "uid-1", Sequence: 7, Epoch: 3}
	id := Identity{NodeName: "worker-1", NodeUID: "uid-1", MachineID: machine}
	order := refitv1alpha1.NodeUpgradeSpec{
		Format: 1, Operation: refitv1alpha1.Operation{Name: "op", UID: "op-1"}, NodeUID: "uid-1", MachineID: machine, Sequence: 8, Epoch: 4,
	}
	for name, hostile := range map[string]struct {
		sequence, epoch int64
		reason          string
	}{
		"highest sequence":          {math.MaxInt64, 4, RefusedTooHigh},
		"highest epoch":             {8, math.MaxInt64, RefusedTooHigh},
		"sequence above the clock":  {now.Add(time.Hour).Unix(), 4, RefusedTooHigh},
		"epoch above the clock":     {8, now.Add(time.Hour).Unix(), RefusedTooHigh},
		"as high as the clock":      {now.Unix(), now.Unix(), ""},
		"clock of the host is slow": {now.Add(5 * time.Minute).Unix(), now.Add(5 * time.Minute).Unix(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec, state, later := order, host, now
			spec.Sequence, spec.Epoch = hostile.sequence, hostile.epoch
			accepted, refusal := Accept("worker-1", &spec, state, id, now)
			if accepted != (hostile.reason == "") || (refusal != nil && refusal.Reason != hostile.reason) {
				t.Fatalf("accepted %t, %+v", accepted, refusal)
			}
			if accepted {
				state.Sequence, state.Epoch, later = spec.Sequence, spec.Epoch, now.Add(time.Minute)
			}
			// The next leader starts above what the host accepted.
			next := order
			next.Sequence, next.Epoch = state.Sequence+1, state.Epoch+1
			if accepted, refusal := Accept("worker-1", &next, state, id, later); !accepted {
				t.Errorf("the next order is refused: %+v", refusal)
			}
		})
	}
}

func TestHostWithoutAClockAcceptsUsualOrders(t *testing.T) {
	for _, now := range []time.Time{{}, time.Unix(0, 0)} {
		if highest := MaxFence(now); highest < 10_000 {
			t.Errorf("%s: %d", now, highest)
		}
	}
}
