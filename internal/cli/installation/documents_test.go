package installation

import (
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/install"
)

// Documents have the values of the adapter; scripts rely on them.
func TestDocumentsHaveTheAdaptersValues(t *testing.T) {
	for want, got := range map[string]string{
		cliv1alpha1.ActionCreated: string(install.Created), cliv1alpha1.ActionChanged: string(install.Changed),
		cliv1alpha1.ActionUnchanged: string(install.Unchanged), cliv1alpha1.ActionRemoved: string(install.Removed),
		cliv1alpha1.ActionLeft: string(install.Left), cliv1alpha1.HostWaiting: string(install.Waiting),
		cliv1alpha1.HostPulling: string(install.Pulling), cliv1alpha1.HostWorking: string(install.Working),
		cliv1alpha1.HostDone: string(install.Done), cliv1alpha1.HostFailing: string(install.Failing), cliv1alpha1.HostUnreachable: string(install.Unreachable),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
