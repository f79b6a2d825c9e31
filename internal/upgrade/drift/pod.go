package drift

import (
	"maps"
	"slices"
)

// Pod is the part of a running static pod that kubeadm's configuration can express.
type Pod struct {
	Flags  map[string][]string // by name without dashes; a flag may occur several times
	Mounts []Mount
}

// Mount is a volume in the container of a static pod.
type Mount struct {
	Volume   string
	HostPath string // empty if the volume is not a hostPath
	PathType string // of the hostPath
	Path     string // in the container
	ReadOnly bool
}

// mount returns the mount at a path in the container.
func (p Pod) mount(path string) (Mount, bool) {
	at := slices.IndexFunc(p.Mounts, func(m Mount) bool { return m.Path == path })
	if at < 0 {
		return Mount{}, false
	}
	return p.Mounts[at], true
}

// has reports whether a pod has a setting.
func (p Pod) has(s Setting) bool {
	if s.Flag != "" {
		return len(p.Flags[s.Flag]) > 0
	}
	_, has := p.mount(s.Mount)
	return has
}

// same reports whether two pods have the same value of a setting. The name of a volume is not a
// part of it.
func same(a, b Pod, s Setting) bool {
	if s.Flag != "" {
		return slices.Equal(a.Flags[s.Flag], b.Flags[s.Flag])
	}
	one, hasOne := a.mount(s.Mount)
	other, hasOther := b.mount(s.Mount)
	one.Volume, other.Volume = "", ""
	one.PathType, other.PathType = "", ""
	return hasOne == hasOther && one == other
}

// Pods are the static pods of the control plane by node and component.
type Pods map[string]map[string]Pod

// otherNodes returns the nodes on which a setting differs from that on a node, sorted.
func (p Pods) otherNodes(node string, s Setting) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p)), func(other string) bool {
		return same(p[node][s.Component], p[other][s.Component], s)
	})
}
