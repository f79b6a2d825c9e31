package kubefacts

import "slices"

// GateAnswer is what a component makes of a feature gate that was set to a value.
type GateAnswer string

// The answers. All but GateAccepted keep a component from starting.
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

// SetGate says whether a component starts with a gate set to a value. Whether the
// gates that it requires are on too is for BrokenGates.
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

// A BrokenGate is a gate that is on and requires gates that are off.
type BrokenGate struct {
	Gate     Gate
	Disabled []string // the required gates that are off
}

// BrokenGates lists the gates that are on, set or by default, although gates that
// they require are off. A component with one of them does not start.
func (f *Facts) BrokenGates(component string, set map[string]bool) []BrokenGate {
	on := func(gate Gate) bool {
		if value, given := set[gate.Name]; given {
			return value
		}
		// These two move every gate of their stage that is not set itself.
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

// RemovedGates lists the gates of a component that one release knows and another
// refuses, in alphabetical order.
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

// Gate finds a feature gate of kubeadm, which refuses a configuration that names
// one that it does not know. It does not look at Locked.
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
