package helm

import (
	"slices"
	"testing"

	rcommon "helm.sh/helm/v4/pkg/release/common"
)

// TestAReleaseThatCouldNotBeAdopted: it stays that of the user, who may roll it back.
func TestAReleaseThatCouldNotBeAdopted(t *testing.T) {
	mark := Mark{Operation: "a", Sequence: 7, Step: "adopt"}
	const written = "sh.helm.release.v1.app.v2"
	for situation, test := range map[string]struct {
		before, after rcommon.Status
		want          []string
	}{
		"Helm superseded it":                  {rcommon.StatusDeployed, rcommon.StatusFailed, []string{"1 deployed", "2 failed"}},
		"it was not deployed":                 {rcommon.StatusFailed, rcommon.StatusFailed, []string{"1 superseded", "2 failed"}},
		"only the response of Helm is failed": {rcommon.StatusDeployed, rcommon.StatusDeployed, []string{"1 superseded", "2 deployed"}},
	} {
		s := recording(t, mark, revisionOf(1, rcommon.StatusSuperseded, "Install complete", "a"), revisionOf(2, test.after, mark.describe("it failed"), "a"))
		must(t, s.restoreDeployed(revisionOf(1, test.before, "Install complete", "a"), written))
		if got := revisions(t, s); !slices.Equal(got, test.want) {
			t.Errorf("%s: the record has %q, want %q", situation, got, test.want)
		}
	}
}
