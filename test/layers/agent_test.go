//go:build layers

package layers

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheAgentLinksNothingLarge keeps the binary that runs as root on every host small. The linter
// checks direct imports only; this test checks all.
func TestTheAgentLinksNothingLarge(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/refit-agent").Output()
	if err != nil {
		t.Fatal(err)
	}
	forbidden := []string{
		"helm.sh/", "sigs.k8s.io/controller-runtime", "sigs.k8s.io/cluster-api", "k8s.io/kubernetes/", "github.com/google/go-containerregistry",
		"github.com/containerd/containerd", "github.com/refit-dev/refit/internal/controller", "github.com/refit-dev/refit/internal/server",
		"github.com/refit-dev/refit/internal/capi", "github.com/refit-dev/refit/internal/engine/observe", "github.com/refit-dev/refit/internal/engine/helm",
		"github.com/refit-dev/refit/internal/engine/artifact/create", "github.com/refit-dev/refit/internal/upgrade/plan", "github.com/refit-dev/refit/test",
	}
	for dep := range strings.Lines(string(out)) {
		for _, prefix := range forbidden {
			if strings.HasPrefix(dep, prefix) {
				t.Errorf("the agent links %s", strings.TrimSpace(dep))
			}
		}
	}
}
