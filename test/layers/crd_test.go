//go:build layers

package layers

import "testing"

// TestOnlyComponentsJudgeCRDs keeps the validation of custom resources, with CEL and the libraries
// of the API server, out of the binaries that run on every host and as the leader.
func TestOnlyComponentsJudgeCRDs(t *testing.T) {
	forbidden := []string{
		"github.com/refit-dev/refit/internal/engine/crd", "github.com/refit-dev/refit/internal/engine/check", "k8s.io/apiextensions-apiserver/pkg/apiserver",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation", "k8s.io/apiserver/", "github.com/google/cel-go",
	}
	linksNone(t, "refit-agent", forbidden)
	linksNone(t, "refit-controller", forbidden)
}
