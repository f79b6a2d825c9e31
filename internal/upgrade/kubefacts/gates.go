package kubefacts

import "slices"

// GateAnswer is how a component treats a feature gate that is set to a value.
type GateAnswer string

// The answers. Only with GateAccepted does a component start.
const (
	GateAccepted GateAnswer = "Accepted"
	GateUnknown  GateAnswer = "Unknown" // "unrecognized feature gate"
	GateLocked   GateAnswer = "Locked"  // "feature is locked to true"
)

// Gate finds a feature gate of a component.
func (f *Facts) Gate(component, name string) (Gate, bool) {
	for _, gate := range f.Gates {
		if gate.Name == name && gate.in(component) {
			return gate, true
		}
	}
	return Gate{}, false
}

// SetGate reports whether a component starts with a gate set to a value. BrokenGates checks the
// gates that it requires.
func (f *Facts) SetGate(component, name string, value bool) GateAnswer {
	gate, known := f.Gate(component, name)
	switch {
	case !known:
		return GateUnknown
	case gate.Locked && gate.Default != value:
		return GateLocked
	default:
		return GateAccepted
	}
}

// BrokenGate is an enabled gate that requires disabled ones.
type BrokenGate struct {
	Gate     Gate
	Disabled []string // the required gates that are disabled
}

// BrokenGates lists the gates that are enabled, explicitly or by default, while gates that they
// require are disabled. A component does not start with one of them.
func (f *Facts) BrokenGates(component string, set map[string]bool) []BrokenGate {
	on := func(gate Gate) bool {
		if value, given := set[gate.Name]; given {
			return value
		}
		// These two set every gate of their stage that is not set itself.
		if all, given := set["AllAlpha"]; given && gate.Stage == Alpha {
			return all
		}
		if all, given := set["AllBeta"]; given && gate.Stage == Beta {
			return all
		}
		return gate.Default
	}
	var broken []BrokenGate
	for _, gate := range f.Gates {
		if !gate.in(component) || !on(gate) {
			continue
		}
		var disabled []string
		for _, name := range gate.Requires {
			if required, known := f.Gate(component, name); known && !on(required) {
				disabled = append(disabled, name)
			}
		}
		if len(disabled) > 0 {
			broken = append(broken, BrokenGate{Gate: gate, Disabled: disabled})
		}
	}
	return broken
}

// RemovedGates lists the gates of a component that one release has and another rejects, in
// alphabetical order.
func RemovedGates(from, to *Facts, component string) []Gate {
	var removed []Gate
	for _, gate := range from.Gates {
		if !gate.in(component) {
			continue
		}
		if _, known := to.Gate(component, gate.Name); !known {
			removed = append(removed, gate)
		}
	}
	return removed
}

// Gate finds a feature gate of kubeadm, which rejects a configuration with an unknown one. kubeadm
// ignores Locked.
func (k Kubeadm) Gate(name string) (Gate, bool) {
	for _, gate := range k.Gates {
		if gate.Name == name {
			return gate, true
		}
	}
	return Gate{}, false
}

func (g Gate) in(component string) bool {
	if len(g.Components) == 0 {
		return slices.Contains(Components(), component)
	}
	return slices.Contains(g.Components, component)
}
