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
