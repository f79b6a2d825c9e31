package rehearsal

import (
	"path"
	"strings"
)

// Manifest is what a rehearsal takes from a static pod manifest.
type Manifest struct {
	Image   string            `json:"image"`
	Command []string          `json:"command"` // with the arguments
	Env     map[string]string `json:"env,omitempty"`
	Mounts  []Mount           `json:"mounts,omitempty"`
}

// Mount is a volume in the container.
type Mount struct {
	Path string `json:"path"`
	// HostPath is the path of a hostPath volume; it is empty for other volumes.
	HostPath string `json:"hostPath,omitempty"`
	// Type is the type of the hostPath, such as DirectoryOrCreate, File or Socket; it may be
	// empty.
	Type string `json:"type,omitempty"`
}

// Paths in a sandbox. The dot keeps them apart from the mounts of a manifest.
const (
	Scratch = "/.refit/scratch" // the scratch directory of the rehearsal, writable
	Image   = "/.refit/image"   // the root directory of the image
	Agent   = "/.refit/agent"   // the binary that sends the requests
)

// Addresses within the network of a rehearsal, which has only a loopback device.
const (
	EtcdURL      = "http://127.0.0.1:2379"
	APIServerURL = "https://127.0.0.1:6443"
)

// HostPath returns the path on the host of a file in the container.
func (m Manifest) HostPath(file string) (string, bool) {
	best := Mount{}
	for _, mount := range m.Mounts {
		within := file == mount.Path || strings.HasPrefix(file, strings.TrimSuffix(mount.Path, "/")+"/")
		if within && len(mount.Path) > len(best.Path) {
			best = mount
		}
	}
	if best.HostPath == "" {
		return "", false
	}
	return path.Join(best.HostPath, strings.TrimPrefix(file, best.Path)), true
}

// Flag returns the last value of a flag.
func (m Manifest) Flag(name string) string {
	value := ""
	for _, f := range parseFlags(m.Command) {
		if f.name == name {
			value = m.expand(f.value())
		}
	}
	return value
}

// Environment returns the variables of the container except those of proxies, which nothing can
// reach.
func (m Manifest) Environment() []string {
	var list []string
	for _, name := range sortedKeys(m.Env) {
		if !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			list = append(list, name+"="+m.Env[name])
		}
	}
	return list
}

// expand replaces $(NAME) as the kubelet does.
func (m Manifest) expand(word string) string {
	for name, value := range m.Env {
		word = strings.ReplaceAll(word, "$("+name+")", value)
	}
	return word
}
