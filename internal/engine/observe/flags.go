package observe

import "strings"

// keptValues are the flags whose values are used. Of all others only the name is kept: the value
// may be a password, a token or the path of one. Never add a flag that may contain a secret.
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

// joined are the flags that accumulate if they occur several times. Of others the last one counts.
var joined = map[string]bool{
	"admission-control": true, "authorization-mode": true, "controllers": true, "disable-admission-plugins": true,
	"emulated-version": true, "enable-admission-plugins": true, "feature-gates": true, "min-compatibility-version": true, "runtime-config": true,
}

// flagsOf returns the flags of a command: --name=value, --name value, or --name. It omits all other
// words, also those with one dash: after a --name they may be its value, and so a secret.
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

// keep adds a flag, with its value only if it is in keptValues.
func keep(flags map[string]string, name, value string) {
	if !keptValues[name] {
		value = ""
	}
	if before := flags[name]; joined[name] && before != "" {
		value = before + "," + value
	}
	flags[name] = value
}
