package builder

import "github.com/refit-dev/refit/test/testbed/versions"

// containerdDeb has the name of Debian's package, so that apt upgrades from one to the other and
// back.
//
// It contains no /etc/containerd/config.toml. Debian's package has one as a conffile, and the file
// of the node differs; a third version would make dpkg prompt. Without it, dpkg keeps the file of
// the node as an obsolete conffile, and accepts it on a downgrade.
//
// Its unit is in /lib like Debian's: to dpkg, /usr/lib is another file, and removing the old one
// would remove the new one.
func containerdDeb(binaries recipe) recipe {
	return debs{
		name: "deb-containerd", release: versions.Containerd, binaries: binaries,
		packages: []deb{{
			name: "containerd", version: versions.ContainerdPackageVersion(), summary: "open and reliable container runtime",
			depends: "runc (>= 0.1.0~)",
			binaries: map[string]string{
				"usr/bin/containerd":              "containerd",
				"usr/bin/containerd-shim-runc-v2": "containerd-shim-runc-v2",
				"usr/bin/ctr":                     "ctr",
			},
			texts:   map[string]string{"lib/systemd/system/containerd.service": containerdUnit},
			scripts: serviceScripts("containerd.service", "restart"),
		}},
	}
}
