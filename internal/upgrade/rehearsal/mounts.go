package rehearsal

import (
	"fmt"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// Binds returns the mounts of a manifest in a sandbox. All are read-only: the API server writes
// only its audit log, which a rehearsal leaves out. The function exists reports whether the host
// has a path.
func Binds(m Manifest, exists func(string) bool) (binds []sandbox.Bind, empty []string, findings []Finding) {
	for _, mount := range m.Mounts {
		switch {
		case mount.HostPath == "":
			empty = append(empty, mount.Path)
		case node.Hidden(mount.HostPath):
			findings = append(findings, Finding{
				Reason: MountMissing, Object: mount.HostPath, Unknown: true,
				Message: "the manifest mounts a path at " + mount.Path + " that the agent cannot see: it has its own /tmp and /var/tmp",
				Remedy:  "Move it to another directory of the host, such as /etc/kubernetes, and change the volume (`apiServer.extraVolumes`)",
			})
		case exists(mount.HostPath):
			binds = append(binds, sandbox.Bind{Host: mount.HostPath, Path: mount.Path})
		case slices.Contains([]string{"Directory", "File", "Socket", "CharDevice", "BlockDevice"}, mount.Type):
			findings = append(findings, Finding{
				Reason: MountMissing, Object: mount.HostPath,
				Message: fmt.Sprintf("the host does not have the %s that the manifest mounts at %s", mount.Type, mount.Path),
				Remedy:  "Create it on this host, or remove the volume from the ClusterConfiguration (`apiServer.extraVolumes`) or the kubeadm patches",
			})
		case mount.Type != "FileOrCreate":
			// The kubelet or the container runtime creates an empty directory.
			empty = append(empty, mount.Path)
		}
	}
	return binds, empty, findings
}
