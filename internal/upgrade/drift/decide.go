package drift

import (
	"maps"
	"slices"
)

// Input is what a decision depends on.
type Input struct {
	Node string
	// Lost are the settings that an upgrade of the node would remove, according to its report.
	Lost []Setting
	// Pods has every control plane node.
	Pods   Pods
	Config Config
}

// Config is the part of the ClusterConfiguration that a decision depends on.
type Config struct {
	// RepeatsFlags is set if a flag may have several values: from v1beta4 on.
	RepeatsFlags bool
	// Volumes are the paths of extraVolumes in the container, by component and name.
	Volumes map[string]map[string]string
}

// Decision is which settings become configuration.
type Decision struct {
	Kept    []Addition
	NotKept []Exception
}

// Addition is what the ClusterConfiguration gets for a component.
type Addition struct {
	Component string
	Settings  []Setting
	Args      []Arg   // replace all arguments of the same name
	Volumes   []Mount // replace a volume at the same path
}

// Arg is an argument of a component.
type Arg struct{ Name, Value string }

// Exception is a component whose settings cannot become configuration of the whole cluster.
type Exception struct {
	Component string
	Settings  []Setting
	Reasons   []string // one sentence each
	Patch     []PatchOperation
}

// Decide decides for each component as a whole: a flag without the mount of its file would keep the
// component from starting.
func Decide(in Input) Decision {
	var d Decision
	lost := map[string][]Setting{}
	for _, s := range in.Lost {
		lost[s.Component] = append(lost[s.Component], s)
	}
	for _, component := range slices.Sorted(maps.Keys(lost)) {
		settings := lost[component]
		if reasons := in.obstacles(settings); len(reasons) > 0 {
			d.NotKept = append(d.NotKept, Exception{Component: component, Settings: settings, Reasons: reasons, Patch: in.patch(settings)})
			continue
		}
		d.Kept = append(d.Kept, in.addition(component, settings))
	}
	return d
}

func (in *Input) addition(component string, settings []Setting) Addition {
	out := Addition{Component: component, Settings: settings}
	for _, s := range settings {
		for _, value := range in.pod(s).Flags[s.Flag] {
			out.Args = append(out.Args, Arg{Name: s.Flag, Value: value})
		}
		if mount, is := in.pod(s).mount(s.Mount); is {
			out.Volumes = append(out.Volumes, mount)
		}
	}
	in.nameVolumes(component, out.Volumes)
	return out
}

// pod returns the pod that has a setting.
func (in *Input) pod(s Setting) Pod { return in.Pods[in.Node][s.Component] }

// Names returns the texts of the settings of an addition.
func (a Addition) Names() []string { return names(a.Settings) }

// Names returns the texts of the settings of an exception.
func (e Exception) Names() []string { return names(e.Settings) }
