package builder

import "github.com/refit-dev/refit/test/testbed/machine"

// nspawnEnv leaves /proc/sys and /sys writable inside, as on a booted node.
var nspawnEnv = []string{"SYSTEMD_NSPAWN_API_VFS_WRITABLE=1"}

// enclosed runs a program in process and mount namespaces of its own: when it is
// killed, nothing that it started goes on writing, and no mount is left behind.
// systemd-nspawn needs that too: what runs inside outlives it.
func enclosed(argv ...string) []string {
	return append([]string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"}, argv...)
}

// inRoot runs one program inside a root directory, without booting it. Binds
// are systemd-nspawn flags such as --bind-ro=/from:/to.
func inRoot(root string, binds []string, argv ...string) command {
	call := enclosed(
		"systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe",
		"--directory="+root, "--machine="+machine.NewBuildContainer(),
		"--resolv-conf=off", "--timezone=off", // the root stays as we made it
		"--setenv=DEBIAN_FRONTEND=noninteractive", "--setenv=LC_ALL=C",
	)
	call = append(call, binds...)
	return command{argv: append(append(call, "--"), argv...), env: nspawnEnv, grouped: true}
}
