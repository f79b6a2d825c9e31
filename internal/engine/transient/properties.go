package transient

import (
	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// recursive is MS_REC: a bind includes the mounts below it.
const recursive = uint64(0x4000)

// capDACOverride is CAP_DAC_OVERRIDE: access to files of every owner.
const capDACOverride = uint64(1 << 1)

// stopTimeout is the time between the signal to end and the kill, in microseconds.
const stopTimeout = uint64(10_000_000)

// Signatures of D-Bus.
type (
	execCommand struct {
		Path         string
		Arguments    []string
		IgnoreStatus bool
	}
	bindMount struct {
		Source, Destination string
		IgnoreMissing       bool
		Flags               uint64
	}
	temporary       struct{ Path, Options string }
	environmentFile struct {
		Path          string
		IgnoreMissing bool
	}
)

// properties returns the closed set of systemd properties of a unit; systemd 245 has all of them.
// Type=exec and Type=oneshot have different time bounds in systemd.
func properties(u sandbox.Unit) []systemd.Property {
	list := []systemd.Property{
		property("Description", u.Description),
		property("ExecStart", []execCommand{{u.Command[0], u.Command, false}}),
		property("KillMode", "control-group"),
		property("TimeoutStopUSec", stopTimeout),
		property("UMask", uint32(0o077)),
		// The kernel ends these processes before any part of the live cluster.
		property("OOMScoreAdjust", int32(1000)),
		// A failed unit stays until its result was read.
		property("CollectMode", "inactive"),
	}
	if len(u.Environment) > 0 {
		list = append(list, property("Environment", u.Environment))
	}
	if u.EnvironmentFile != "" {
		list = append(list, property("EnvironmentFiles", []environmentFile{{u.EnvironmentFile, false}}))
	}
	limit := uint64(u.Bounds.Time.Microseconds())
	if u.Kind == sandbox.Task {
		list = append(list, property("Type", "oneshot"), property("RemainAfterExit", true), property("TimeoutStartUSec", limit))
	} else {
		list = append(list, property("Type", "exec"), property("RuntimeMaxUSec", limit))
	}
	if u.Output != "" {
		list = append(list, property("StandardOutputFileToAppend", u.Output))
	}
	if u.Log != "" {
		list = append(list, property("StandardErrorFileToAppend", u.Log))
	}
	list = append(list, bounds(u.Bounds)...)
	if u.Sandbox != nil {
		list = append(list, isolation(*u.Sandbox)...)
	}
	return list
}

func bounds(b sandbox.Bounds) []systemd.Property {
	var list []systemd.Property
	for _, bound := range []struct {
		name  string
		value uint64
	}{
		{"MemoryMax", b.Memory},
		{"CPUQuotaPerSecUSec", b.CPUPercent * 10_000},
		{"CPUWeight", b.CPUWeight},
		{"IOWeight", b.IOWeight},
		{"TasksMax", b.Tasks},
	} {
		if bound.value > 0 {
			list = append(list, property(bound.name, bound.value))
		}
	}
	if b.Memory > 0 {
		list = append(list, property("MemorySwapMax", uint64(0)))
	}
	return list
}

// isolation returns the properties of a sandbox: an empty, read-only root directory with the listed
// paths, a loopback device as the only network, no devices, and no capabilities but the one to read
// files of every owner, if it needs it.
func isolation(s sandbox.Sandbox) []systemd.Property {
	roots := []temporary{{"/", "ro"}}
	for _, dir := range s.Empty {
		roots = append(roots, temporary{dir, "mode=0700"})
	}
	capabilities := uint64(0)
	if s.ReadsAll {
		capabilities = capDACOverride
	}
	list := []systemd.Property{
		property("PrivateNetwork", true),
		property("TemporaryFileSystem", roots),
		property("MountAPIVFS", true),
		property("PrivateDevices", true),
		property("PrivateTmp", true),
		property("NoNewPrivileges", true),
		property("CapabilityBoundingSet", capabilities),
		property("AmbientCapabilities", uint64(0)),
		property("LockPersonality", true),
		property("RestrictSUIDSGID", true),
		property("ProtectHostname", true),
		property("BindReadOnlyPaths", binds(s.ReadOnly)),
		property("BindPaths", binds(s.Writable)),
	}
	if s.Joins != "" {
		list = append(list, property("JoinsNamespaceOf", []string{service(s.Joins)}))
	}
	return list
}

func binds(all []sandbox.Bind) []bindMount {
	list := []bindMount{}
	for _, b := range all {
		list = append(list, bindMount{b.Host, b.Path, b.Optional, recursive})
	}
	return list
}

func property(name string, value any) systemd.Property {
	return systemd.Property{Name: name, Value: dbus.MakeVariant(value)}
}

func service(name string) string { return name + ".service" }
