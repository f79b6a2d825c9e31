package builder

import "time"

func coredns(toolchain, version string) recipe {
	return goBinaries{
		name: "coredns", release: version, toolchain: toolchain,
		modules:  []goModule{{Path: "github.com/coredns/coredns", Version: version}},
		commands: []goCommand{{pkg: "github.com/coredns/coredns"}},
		ldflags:  goStrip, takes: 3 * time.Minute,
	}
}
