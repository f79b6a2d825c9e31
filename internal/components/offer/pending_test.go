package offer

import (
	"testing"

	"github.com/refit-dev/refit/internal/engine/helm"
)

// TestHelmReleasesThatAreLocked: no step can start while one of them is.
func TestHelmReleasesThatAreLocked(t *testing.T) {
	const ours = "refit/up.1/7/wave-1"
	for _, test := range []struct {
		status, description, want string
	}{
		{"deployed", "Install complete", ""},
		{"failed", "Upgrade failed", ""},
		{"pending-upgrade", "Preparing upgrade", "revision 3 is pending-upgrade"},
		{"pending-upgrade", ours, ""},
		{"uninstalling", "Deletion in progress (or silently failed)", "revision 3 is uninstalling"},
		{"uninstalling", ours, "revision 3 is uninstalling"},
	} {
		if got := pendingOf(&helm.Record{Revision: 3, Status: test.status, Description: test.description}); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.status, test.description, got, test.want)
		}
	}
}
