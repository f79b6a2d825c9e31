//go:build e2e

package upgrade

import (
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// untouched verifies that nodes are at the older version.
func (s *site) untouched(t *testing.T, nodes ...*cluster.Node) {
	t.Helper()
	for _, n := range nodes {
		must(t, s.NodeAt(t.Context(), n, older))
	}
}
