package create

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/engine/artifact"
)

func TestReleaseFromTheTestbed(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	var folders []string
	for _, pattern := range []string{
		"kubernetes/v1.36.3-*/bin", "containerd/v2.4.2-*/bin", "cni-plugins/v1.9.1-*/bin", "images/v1.36.3-*", "deb-kubernetes/v1.36.3-*/debs", "kubernetes/v1.35.4-*/bin",
	} {
		paths, _ := filepath.Glob(filepath.Join(home, ".cache/refit-testbed", pattern))
		if len(paths) == 0 {
			t.Skipf("the testbed has not built %s", pattern)
		}
		folders = append(folders, paths[len(paths)-1])
	}
	if testing.Short() {
		t.Skip("it reads half a gigabyte")
	}
	result, err := Payload(t.Context(), Options{Kubernetes: "v1.36.3", Folders: folders})
	if err != nil {
		t.Fatal(err)
	}
	p := result.Payload
	if p.Containerd != "2.4.2" || p.CNIPlugins != "1.9.1" || p.Etcd != "3.6.8-0" || p.CoreDNS != "v1.14.2" || p.Pause != "3.10.2" || len(p.Images) != 7 {
		t.Errorf("%+v", p)
	}
	if err := artifact.ValidatePayload(p); err != nil || len(result.Warnings) > 0 {
		t.Errorf("%v %v", err, result.Warnings)
	}
	t.Logf("%d files, %d images; skipped %v", len(p.Files), len(p.Images), result.Skipped)
}
