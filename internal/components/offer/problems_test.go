package offer

import (
	"testing"

	"github.com/refit-dev/refit/internal/engine/crd"
)

// TestEveryFindingThatBlocksHasARemedy: refit-components reports the reasons of package crd as
// problems.
func TestEveryFindingThatBlocksHasARemedy(t *testing.T) {
	for _, reason := range []crd.Reason{crd.RefusesObjects, crd.DropsFields, crd.ChangeRefused, crd.ConversionUnavailable} {
		if p := problem(string(reason), "", "x"); p.Remedy == "" {
			t.Errorf("%s has no remedy", reason)
		}
	}
	for reason, remedy := range remedies {
		if len([]rune(remedy)) > 256 {
			t.Errorf("the remedy of %s does not fit the API", reason)
		}
	}
}
