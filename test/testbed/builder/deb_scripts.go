package builder

import "strings"

// serviceScripts are the maintainer scripts of a package with one service: it is enabled on the
// first installation, systemd reloads the unit, and the service is stopped when the package is
// removed. An upgrade runs upgradeAction, which is empty for the kubelet: kubeadm's instructions
// restart it manually.
func serviceScripts(unit, upgradeAction string) map[string]string {
	postinst := `#!/bin/sh
set -e
case "$1" in configure|abort-upgrade|abort-deconfigure|abort-remove)
	deb-systemd-helper unmask UNIT >/dev/null || true
	if deb-systemd-helper --quiet was-enabled UNIT; then
		deb-systemd-helper enable UNIT >/dev/null || true
	else
		deb-systemd-helper update-state UNIT >/dev/null || true
	fi
	if [ -d /run/systemd/system ]; then
		systemctl --system daemon-reload >/dev/null || true
ACTION	fi
esac
`
	action := ""
	if upgradeAction != "" {
		action = "\t\tif [ -n \"$2\" ]; then deb-systemd-invoke " + upgradeAction + " UNIT >/dev/null || true\n" +
			"\t\telse deb-systemd-invoke start UNIT >/dev/null || true; fi\n"
	}
	prerm := `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	deb-systemd-invoke stop UNIT >/dev/null || true
fi
`
	postrm := `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ] && [ -x /usr/bin/deb-systemd-helper ]; then
	deb-systemd-helper purge UNIT >/dev/null || true
fi
`
	fill := strings.NewReplacer("ACTION", action).Replace
	name := strings.NewReplacer("UNIT", unit).Replace
	return map[string]string{"postinst": name(fill(postinst)), "prerm": name(prerm), "postrm": name(postrm)}
}
