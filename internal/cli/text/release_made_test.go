package text

import (
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

func TestNextStepsOfAnAddedReleaseSelectIt(t *testing.T) {
	for name, want := range map[string]string{
		"kubernetes-v1.36.3":   "refit upgrade --to v1.36.3\n",
		"kubernetes-v1.36.3-b": "refit upgrade --release kubernetes-v1.36.3-b\n",
	} {
		if got := AddedRelease(cliv1alpha1.NewAddedRelease("prod", name, "v1.36.3", "SHA256:x"), "refit"); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
