package transient

import (
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

func etcd() sandbox.Unit {
	return sandbox.Unit{
		Name: "refit-rehearsal-etcd", Description: "etcd", Kind: sandbox.Service, Command: []string{"/image/etcd", "--name=rehearsal"},
		Bounds:      sandbox.Bounds{Memory: 1 << 30, CPUPercent: 150, CPUWeight: 20, IOWeight: 20, Tasks: 512, Time: time.Hour},
		Environment: []string{"GOGC=50"}, EnvironmentFile: "/var/lib/refit/etcd.env", Output: "/var/lib/refit/out", Log: "/var/lib/refit/log",
		Sandbox: &sandbox.Sandbox{
			ReadOnly: []sandbox.Bind{{Host: "/run/image", Path: "/image"}, {Host: "/etc/ssl", Path: "/etc/ssl", Optional: true}},
			Writable: []sandbox.Bind{{Host: "/var/lib/refit/scratch", Path: "/refit"}},
			Empty:    []string{"/cache"}, Joins: "refit-rehearsal-other",
		},
	}
}

func propertiesOf(u sandbox.Unit) map[string]dbus.Variant {
	all := map[string]dbus.Variant{}
	for _, p := range properties(u) {
		all[p.Name] = p.Value
	}
	return all
}

// systemd rejects a unit whose properties have other types.
func TestPropertiesHaveTheTypesOfSystemd(t *testing.T) {
	all := propertiesOf(etcd())
	for name, want := range map[string]string{
		"Description": "s", "ExecStart": "a(sasb)", "Type": "s", "RuntimeMaxUSec": "t", "TimeoutStopUSec": "t", "UMask": "u",
		"OOMScoreAdjust": "i", "MemoryMax": "t", "MemorySwapMax": "t", "CPUQuotaPerSecUSec": "t", "CPUWeight": "t", "IOWeight": "t", "TasksMax": "t",
		"PrivateNetwork": "b", "TemporaryFileSystem": "a(ss)", "CapabilityBoundingSet": "t", "BindPaths": "a(ssbt)", "BindReadOnlyPaths": "a(ssbt)",
		"JoinsNamespaceOf": "as", "Environment": "as", "EnvironmentFiles": "a(sb)", "StandardOutputFileToAppend": "s",
	} {
		if got := all[name].Signature().String(); got != want {
			t.Errorf("%s has the type %q, want %q", name, got, want)
		}
	}
}

func TestSandboxHasNoNetworkAndNoCapabilities(t *testing.T) {
	u := etcd()
	u.Sandbox = &sandbox.Sandbox{}
	all := propertiesOf(u)
	for name, want := range map[string]any{
		"PrivateNetwork": true, "PrivateDevices": true, "NoNewPrivileges": true, "CapabilityBoundingSet": uint64(0), "AmbientCapabilities": uint64(0),
	} {
		if got := all[name].Value(); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if roots, ok := all["TemporaryFileSystem"].Value().([]temporary); !ok || len(roots) != 1 || roots[0] != (temporary{"/", "ro"}) {
		t.Errorf("the root directory is %v", roots)
	}
	if _, joins := all["JoinsNamespaceOf"]; joins {
		t.Error("it joins a namespace")
	}
}

// A bounding set of another capability would let the process leave its sandbox.
func TestSandboxThatReadsAllHasOneCapability(t *testing.T) {
	u := etcd()
	u.Sandbox = &sandbox.Sandbox{ReadsAll: true}
	all := propertiesOf(u)
	if got := all["CapabilityBoundingSet"].Value(); got != uint64(2) {
		t.Errorf("the capabilities are %v", got)
	}
	if got := all["AmbientCapabilities"].Value(); got != uint64(0) {
		t.Errorf("the ambient capabilities are %v", got)
	}
}

// Type=oneshot ignores RuntimeMaxSec; TimeoutStartSec applies to a service only while it starts.
func TestEachKindHasItsTimeBound(t *testing.T) {
	u := etcd()
	if got := propertiesOf(u)["RuntimeMaxUSec"].Value(); got != uint64(3_600_000_000) {
		t.Errorf("a service may run %v µs", got)
	}
	u.Kind = sandbox.Task
	all := propertiesOf(u)
	if got := all["TimeoutStartUSec"].Value(); got != uint64(3_600_000_000) {
		t.Errorf("a task may run %v µs", got)
	}
	if all["Type"].Value() != "oneshot" || all["RemainAfterExit"].Value() != true {
		t.Errorf("a task is %v", all)
	}
}

func TestUnboundedResourcesAreLeftToSystemd(t *testing.T) {
	u := etcd()
	u.Bounds = sandbox.Bounds{Time: time.Minute}
	all := propertiesOf(u)
	for _, name := range []string{"MemoryMax", "MemorySwapMax", "CPUWeight", "IOWeight", "TasksMax", "CPUQuotaPerSecUSec"} {
		if value, set := all[name]; set {
			t.Errorf("%s is %v", name, value)
		}
	}
}
