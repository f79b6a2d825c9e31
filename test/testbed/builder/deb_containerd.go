package builder

import "github.com/refit-dev/refit/test/testbed/versions"

// containerdDeb has the name of Debian's package, so that apt upgrades the one
// to the other and back.
//
// It has no /etc/containerd/config.toml. Debian's has one as a conffile, and the
// node's differs from it; shipping a third text would make dpkg ask. Without it
// dpkg keeps the node's file as an obsolete conffile, and finds it known and
// unchanged by the package when it goes back.
//
// Its unit lies under /lib as Debian's does: to dpkg /usr/lib would be another
// file, and removing the old one would remove the new.
func containerdDeb(programs recipe) recipe {
	return debs{
		name: "deb-containerd", release: versions.Containerd, programs: programs,
		packages: []deb{{
			name: "containerd", version: versions.ContainerdPackageVersion(), summary: "open and reliable container runtime",
			depends: "runc (>= 0.1.0~)",
			programs: map[string]string{
				"usr/bin/containerd":              "containerd",
				"usr/bin/containerd-shim-runc-v2": "containerd-shim-runc-v2",
				"usr/bin/ctr":                     "ctr",
			},
			texts:   map[string]string{"lib/systemd/system/containerd.service": containerdUnit},
			scripts: serviceScripts("containerd.service", "restart"),
		}},
	}
}
