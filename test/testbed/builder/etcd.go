package builder

import "time"

// etcdCommands are the binaries of an etcd release; the main package of the server has another name
// than its binary.
var etcdCommands = []goCommand{
	{pkg: "go.etcd.io/etcd/server/v3", as: "etcd"},
	{pkg: "go.etcd.io/etcd/etcdctl/v3"},
	{pkg: "go.etcd.io/etcd/etcdutl/v3"},
}

func etcd(toolchain, version string) recipe {
	binary := goBinaries{
		name: "etcd", release: version, toolchain: toolchain,
		commands: etcdCommands, ldflags: goStrip, takes: time.Minute,
	}
	for _, command := range etcdCommands {
		binary.modules = append(binary.modules, goModule{Path: command.pkg, Version: version})
	}
	return binary
}
