package rehearsal_test

import (
	"slices"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

func TestBinds(t *testing.T) {
	m := rehearsal.Manifest{Mounts: []rehearsal.Mount{
		{Path: "/etc/kubernetes/pki", HostPath: "/etc/kubernetes/pki", Type: "DirectoryOrCreate"},
		{Path: "/etc/ca-certificates", HostPath: "/etc/ca-certificates", Type: "DirectoryOrCreate"},
		{Path: "/etc/plain", HostPath: "/srv/plain"},
		{Path: "/etc/audit.yaml", HostPath: "/srv/audit.yaml", Type: "File"},
		{Path: "/etc/new.yaml", HostPath: "/srv/new.yaml", Type: "FileOrCreate"},
		{Path: "/cache"},
	}}
	present := []string{"/etc/kubernetes/pki"}
	binds, empty, findings := rehearsal.Binds(m, func(path string) bool { return slices.Contains(present, path) })
	if !slices.Equal([]sandbox.Bind{{Host: "/etc/kubernetes/pki", Path: "/etc/kubernetes/pki"}}, binds) {
		t.Errorf("%v", binds)
	}
	if !slices.Equal([]string{"/etc/ca-certificates", "/etc/plain", "/cache"}, empty) {
		t.Errorf("%v", empty)
	}
	if len(findings) != 1 || findings[0].Reason != rehearsal.MountMissing || findings[0].Object != "/srv/audit.yaml" || findings[0].Unknown {
		t.Errorf("%+v", findings)
	}
}

func TestBindsOfARenderedManifest(t *testing.T) {
	binds, empty, findings := rehearsal.Binds(sample(t, "kube-apiserver"), func(string) bool { return true })
	if len(binds) != 5 || len(empty) != 0 || len(findings) != 0 {
		t.Errorf("%v %v %v", binds, empty, findings)
	}
}

// The agent has its own /tmp, so it cannot see what the host has there.
func TestMountsThatTheAgentCannotSeeAreUnknown(t *testing.T) {
	m := rehearsal.Manifest{Mounts: []rehearsal.Mount{
		{Path: "/etc/enc", HostPath: "/tmp/enc"}, {Path: "/etc/adm.yaml", HostPath: "/var/tmp/adm.yaml", Type: "File"}, {Path: "/etc/x", HostPath: "/tmpfiles"},
	}}
	binds, empty, findings := rehearsal.Binds(m, func(string) bool { return true })
	if len(binds) != 1 || len(empty) != 0 || len(findings) != 2 {
		t.Fatalf("%v %v %+v", binds, empty, findings)
	}
	for _, f := range findings {
		if !f.Unknown || f.Reason != rehearsal.MountMissing || f.Remedy == "" {
			t.Errorf("%+v", f)
		}
	}
}
