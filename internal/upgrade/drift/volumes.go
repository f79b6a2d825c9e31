package drift

import (
	"fmt"
	"maps"
)

// nameVolumes gives each volume a name of its own: kubeadm has one mount per name, and a volume
// with the name of another replaces it.
func (in *Input) nameVolumes(component string, volumes []Mount) {
	taken := map[string]string{} // paths by name
	for _, m := range in.Pods[in.Node][component].Mounts {
		if _, has := taken[m.Volume]; !has {
			taken[m.Volume] = m.Path
		}
	}
	maps.Copy(taken, in.Config.Volumes[component])
	for i := range volumes {
		v := &volumes[i]
		name := v.Volume
		for n := 2; ; n++ {
			if path, is := taken[name]; !is || path == v.Path {
				break
			}
			name = fmt.Sprintf("%s-%d", v.Volume, n)
		}
		v.Volume, taken[name] = name, v.Path
	}
}
