package builder

import "strings"

// rpmServiceScripts are the scriptlets of a package with one service, as the macros of systemd
// before version 250 expand: the presets decide about a new unit, a removed package stops its
// service, and each transaction reloads systemd. An upgrade restarts the service if restart is set;
// kubeadm's instructions restart the kubelet manually.
//
// The macros of newer versions only mark a service for a restart, which a trigger of systemd's own
// package then performs.
func rpmServiceScripts(unit string, restart bool) map[string]string {
	postremove := "systemctl daemon-reload >/dev/null 2>&1 || :\n"
	if restart {
		postremove += "if [ $1 -ge 1 ]; then\n\tsystemctl try-restart UNIT >/dev/null 2>&1 || :\nfi\n"
	}
	name := strings.NewReplacer("UNIT", unit).Replace
	return map[string]string{
		"postinstall": name("if [ $1 -eq 1 ]; then\n\tsystemctl --no-reload preset UNIT >/dev/null 2>&1 || :\nfi\n"),
		"preremove":   name("if [ $1 -eq 0 ]; then\n\tsystemctl --no-reload disable --now UNIT >/dev/null 2>&1 || :\nfi\n"),
		"postremove":  name(postremove),
	}
}
