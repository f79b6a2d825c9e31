package builder

import "time"

// containerd builds the daemon, its runc shim and ctr. The tags exclude snapshotters that need C
// libraries or kernel features that test machines lack.
func containerd(toolchain, version string) recipe {
	const module = "github.com/containerd/containerd/v2"
	binary := goBinaries{
		name: "containerd", release: version, toolchain: toolchain,
		modules: []goModule{{Path: module, Version: version}},
		tags:    "no_btrfs,no_zfs,no_devmapper",
		ldflags: goStrip + setVariables(module+"/version", "Version="+version),
		takes:   2 * time.Minute,
	}
	for _, name := range []string{"containerd", "containerd-shim-runc-v2", "ctr"} {
		binary.commands = append(binary.commands, goCommand{pkg: module + "/cmd/" + name})
	}
	return binary
}
