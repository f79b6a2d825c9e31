package result

import (
	"slices"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// A Gate is a feature gate at the version of the binary.
type Gate struct {
	Name       string   `json:"name"`
	Stage      string   `json:"stage"`
	Default    bool     `json:"default"`
	Locked     bool     `json:"locked,omitempty"`
	Requires   []string `json:"requires,omitempty"`
	Deprecated string   `json:"deprecated,omitempty"`
}

// Gates lists the feature gates of the calling binary: every linked package registers its own.
func Gates() []Gate {
	all := utilfeature.DefaultMutableFeatureGate
	requires := dependencies(all)
	var gates []Gate
	for name, spec := range all.GetAll() {
		// A gate for emulating a version before it existed; it cannot be set.
		if spec.PreRelease == featuregate.PreAlpha {
			continue
		}
		gates = append(gates, GateOf(string(name), spec, requires[name]))
	}
	slices.SortFunc(gates, func(a, b Gate) int { return strings.Compare(a.Name, b.Name) })
	return gates
}

// GateOf returns one gate.
func GateOf(name string, spec featuregate.FeatureSpec, requires []featuregate.Feature) Gate {
	stage := string(spec.PreRelease)
	if spec.PreRelease == featuregate.GA {
		stage = "GA"
	}
	gate := Gate{Name: name, Stage: stage, Default: spec.Default, Locked: spec.LockToDefault}
	for _, required := range requires {
		gate.Requires = append(gate.Requires, string(required))
	}
	slices.Sort(gate.Requires)
	return gate
}

// dependencies are the gates that gates require; releases before 1.35 did not check them.
func dependencies(gates any) map[featuregate.Feature][]featuregate.Feature {
	if known, ok := gates.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); ok {
		return known.Dependencies()
	}
	return nil
}
