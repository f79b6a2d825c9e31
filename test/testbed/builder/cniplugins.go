package builder

import "time"

func cniPlugins(toolchain, version string) goBinaries {
	const module = "github.com/containernetworking/plugins"
	binary := goBinaries{
		name: "cni-plugins", release: version, toolchain: toolchain,
		modules: []goModule{{Path: module, Version: version}},
		ldflags: goStrip + setVariables(module+"/pkg/utils/buildversion", "BuildVersion="+version),
		takes:   30 * time.Second,
	}
	for _, plugin := range []string{"main/bridge", "main/loopback", "main/ptp", "ipam/host-local", "meta/portmap", "meta/firewall"} {
		binary.commands = append(binary.commands, goCommand{pkg: module + "/plugins/" + plugin})
	}
	return binary
}
