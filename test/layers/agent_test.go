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
	linksNone(t, "refit-agent", append(proofs(),
		"helm.sh/", "go.opentelemetry.io/", "sigs.k8s.io/controller-runtime", "sigs.k8s.io/cluster-api", "k8s.io/kubernetes/", "github.com/google/go-containerregistry",
		"github.com/containerd/containerd", "github.com/refit-dev/refit/internal/controller", "github.com/refit-dev/refit/internal/server",
		"github.com/refit-dev/refit/internal/capi", "github.com/refit-dev/refit/internal/engine/observe", "github.com/refit-dev/refit/internal/engine/helm",
		"github.com/refit-dev/refit/internal/upgrade/plan", "github.com/refit-dev/refit/test",
	))
}

// TestOnlyTestsLinkARegistry keeps the registry of the tests out of the CLI, and the client of
// registries out of the cluster.
func TestOnlyTestsLinkARegistry(t *testing.T) {
	const registry, client = "github.com/distribution/distribution", "oras.land/"
	linksNone(t, "refit", []string{registry})
	linksNone(t, "refit-agent", []string{registry, client})
	linksNone(t, "refit-controller", []string{registry, client})
}

// TestTheControllerLinksNoProofsOfUpstream keeps the parsers of documents from the internet out of
// the cluster: only the CLI creates ClusterReleases.
func TestTheControllerLinksNoProofsOfUpstream(t *testing.T) {
	linksNone(t, "refit-controller", proofs())
}

// TestTheControllerLinksNoHelm keeps Helm, and the permissions that it needs, out of the
// controller: a process of its own changes releases.
func TestTheControllerLinksNoHelm(t *testing.T) {
	linksNone(t, "refit-controller", []string{"helm.sh/", "github.com/refit-dev/refit/internal/engine/helm"})
}

// TestTheCLITrustsNoSigstoreOfTests keeps authorities whose keys are known out of the CLI.
func TestTheCLITrustsNoSigstoreOfTests(t *testing.T) {
	linksNone(t, "refit", []string{"github.com/refit-dev/refit/internal/engine/artifact/upstream/upstreamtest", "github.com/sigstore/sigstore-go/pkg/testing/"})
}

// proofs are the packages that find and prove the content of upstream.
func proofs() []string {
	return []string{
		"github.com/refit-dev/refit/internal/engine/artifact/create", "github.com/refit-dev/refit/internal/engine/artifact/upstream",
		"github.com/sigstore/", "github.com/ProtonMail/",
	}
}

// linksNone fails if a command links a package with one of the prefixes.
func linksNone(t *testing.T, command string, forbidden []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/"+command).Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, prefix := range forbidden {
			if strings.HasPrefix(dep, prefix) {
				t.Errorf("%s links %s", command, strings.TrimSpace(dep))
			}
		}
	}
}
