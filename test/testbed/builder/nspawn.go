package builder

import "github.com/refit-dev/refit/test/testbed/machine"

// nspawnEnv keeps /proc/sys and /sys writable inside, as on a booted node.
var nspawnEnv = []string{"SYSTEMD_NSPAWN_API_VFS_WRITABLE=1"}

// enclosed runs a command in its own PID and mount namespaces: when it is killed, none of its
// children keeps writing, and no mount is left behind. Processes inside systemd-nspawn would
// outlive it otherwise.
func enclosed(argv ...string) []string {
	return append([]string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"}, argv...)
}

// inRoot runs a command inside a root directory, without booting it. Binds are systemd-nspawn flags
// such as --bind-ro=/from:/to.
func inRoot(root string, binds []string, argv ...string) command {
	call := enclosed(
		"systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe",
		"--directory="+root, "--machine="+machine.NewBuildContainer(),
		"--resolv-conf=off", "--timezone=off", // do not modify the root
		"--setenv=DEBIAN_FRONTEND=noninteractive", "--setenv=LC_ALL=C",
	)
	call = append(call, binds...)
	return command{argv: append(append(call, "--"), argv...), env: nspawnEnv, grouped: true}
}
