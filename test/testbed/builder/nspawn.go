package builder

// nspawnEnv leaves /proc/sys and /sys writable inside, as on a booted node.
var nspawnEnv = []string{"SYSTEMD_NSPAWN_API_VFS_WRITABLE=1"}

// inRoot runs one program inside a root directory, without booting it. Binds
// are systemd-nspawn flags such as --bind-ro=/from:/to.
func inRoot(root string, binds []string, argv ...string) command {
	call := []string{
		"systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe",
		"--directory=" + root,
		"--resolv-conf=off", "--timezone=off", // the root stays as we made it
		"--setenv=DEBIAN_FRONTEND=noninteractive", "--setenv=LC_ALL=C",
	}
	call = append(call, binds...)
	return command{argv: append(append(call, "--"), argv...), env: nspawnEnv}
}
