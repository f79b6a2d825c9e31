//go:build e2e

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// journals are the units whose journals a support bundle has of each host.
var journals = []string{"containerd.service", "kubelet.service", "refit-agent.service"}

// bundles collects a support bundle from kubelets, then without a host that is off: at once, and
// when the cluster knows it.
func bundles(t *testing.T, s *bed.Site, off *cluster.Node) {
	t.Helper()
	all := collect(t, s)
	for _, n := range s.Nodes() {
		hasJournals(t, all, n)
	}
	bed.Show(t, "support_bundle", float64(all.Seconds), "s")

	bed.Must(t, off.Poweroff(context.WithoutCancel(t.Context())))
	without := func(situation string) *cliv1alpha1.BundleError {
		part := collect(t, s, "--host-timeout", "20s")
		hasJournals(t, part, s.First(cluster.RoleControlPlane))
		for i := range part.Parts {
			if p := &part.Parts[i]; p.Node == off.Name() && p.Error != nil {
				if p.Error.Reason == "" || p.Error.Remedy == "" {
					t.Errorf("%s: the error is %+v", situation, p.Error)
				}
				t.Logf("%s, after %d s: %+v", situation, part.Seconds, *p.Error)
				return p.Error
			}
		}
		t.Errorf("%s: the bundle does not tell that %s is missing", situation, off.Name())
		return &cliv1alpha1.BundleError{}
	}
	without("just powered off")
	bed.Must(t, bed.Until(t.Context(), "the node to be unreachable", bed.CheckTimeout, func(ctx context.Context) error {
		ready, err := s.Kubectl(ctx, nil, "get", "node", off.Name(), `--output=jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		if err == nil && string(ready) != "Unknown" {
			err = errors.New("it is " + string(ready))
		}
		return err
	}))
	if e := without("unreachable"); e.Reason != "NodeUnreachable" {
		t.Errorf("the reason of an unreachable node is %s", e.Reason)
	}
}

// collect collects a support bundle.
func collect(t *testing.T, s *bed.Site, flags ...string) (out cliv1alpha1.SupportBundle) {
	t.Helper()
	printed := s.RunRefit(t, append([]string{"support-bundle", "-o", "json", "--file", filepath.Join(t.TempDir(), "bundle.tar.gz")}, flags...)...)
	bed.Must(t, json.Unmarshal([]byte(printed), &out))
	return out
}

// hasJournals fails unless the bundle has entries of the journals of a host.
func hasJournals(t *testing.T, b cliv1alpha1.SupportBundle, n *cluster.Node) {
	t.Helper()
	entries := map[string]int64{}
	for i := range b.Parts {
		if p := &b.Parts[i]; p.Node == n.Name() && p.Error == nil {
			entries[p.Source] += p.Items
		}
	}
	for _, unit := range journals {
		if entries["journal of "+unit] == 0 {
			t.Errorf("the bundle has no entries of %s on %s: %v", unit, n.Name(), entries)
		}
	}
}
