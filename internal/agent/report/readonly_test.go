package report

import (
	"os"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
)

// The directory can be a mount of its own on the same file system as its parent.
func TestReadOnlyManifestsAreReported(t *testing.T) {
	if !durabletest.PrivateMounts(t) {
		return
	}
	s := rooted(t, map[string]string{managerConf: "", manifestsDir + "/kube-apiserver.yaml": ""})
	readOnly := func() []string {
		t.Helper()
		set, err := disks(t.Context(), s)
		must(t, err)
		var r refitv1alpha1.NodeReportStatus
		set(&r)
		return r.ReadOnlyPaths
	}
	if paths := readOnly(); len(paths) > 0 {
		t.Fatalf("writable: %q", paths)
	}
	release := durabletest.MountReadOnly(t, s.path(manifestsDir))
	if err := os.WriteFile(s.path(manifestsDir+"/new.yaml"), nil, 0o600); err == nil {
		t.Fatal("the mount is writable")
	}
	if paths := readOnly(); !slices.Equal(paths, []string{manifestsDir}) {
		t.Errorf("read-only: %q", paths)
	}
	release()
	if paths := readOnly(); len(paths) > 0 {
		t.Errorf("writable again: %q", paths)
	}
}
