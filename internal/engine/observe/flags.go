package observe

import "strings"

// keptValues are the flags whose values decisions read. Of all others only the name is kept: a value may be a password, a token or a path that tells
// where one lies. A value is kept whole, so no flag that could hold a secret may ever be added.
var keptValues = map[string]bool{
	"admission-control":            true,
	"advertise-address":            true,
	"allow-privileged":             true,
	"anonymous-auth":               true,
	"authorization-mode":           true,
	"bind-address":                 true,
	"cloud-provider":               true,
	"controllers":                  true,
	"disable-admission-plugins":    true,
	"emulated-version":             true,
	"emulation-forward-compatible": true,
	"enable-admission-plugins":     true,
	"feature-gates":                true,
	"initial-cluster-state":        true,
	"leader-elect":                 true,
	"min-compatibility-version":    true,
	"name":                         true, // of an etcd member
	"quota-backend-bytes":          true,
	"runtime-config":               true,
	"runtime-config-emulation-forward-compatible": true,
	"secure-port":        true,
	"storage-backend":    true,
	"storage-media-type": true,
}

// joined are the flags that may be given several times, each time adding to the list. Of others the last one counts.
var joined = map[string]bool{
	"admission-control": true, "authorization-mode": true, "controllers": true, "disable-admission-plugins": true,
	"emulated-version": true, "enable-admission-plugins": true, "feature-gates": true, "min-compatibility-version": true, "runtime-config": true,
}

// flagsOf finds the flags of a command: --name=value, --name value, or --name alone. All other words are left out, also those with one dash: behind
// a --name they may be its value, and so a secret.
func flagsOf(command []string) map[string]string {
	flags := map[string]string{}
	for i := 0; i < len(command); i++ {
		flag, isFlag := strings.CutPrefix(command[i], "--")
		if !isFlag || flag == "" {
			continue
		}
		name, value, given := strings.Cut(flag, "=")
		if !given && i+1 < len(command) && !strings.HasPrefix(command[i+1], "--") {
			i++
			value = command[i]
		}
		keep(flags, name, value)
	}
	return flags
}

// keep adds a flag, with its value only if that may be kept.
func keep(flags map[string]string, name, value string) {
	if !keptValues[name] {
		value = ""
	}
	if before := flags[name]; joined[name] && before != "" {
		value = before + "," + value
	}
	flags[name] = value
}
