package steps

import (
	"errors"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// patchedHost is a control plane node whose ClusterRelease sets an argument of the API server, and
// whose operation has saved what the cluster stored.
func patchedHost(t *testing.T, argument string, last configpatch.Values) *Host {
	t.Helper()
	h := testHost(t)
	h.Upgrade.Role = refitv1alpha1.RoleFirstControlPlane
	h.Release.Payload.ClusterConfiguration = &refitv1alpha1.ClusterConfigurationPatch{APIServer: &refitv1alpha1.ControlPlaneComponentPatch{
		ExtraArgs: []refitv1alpha1.ReleaseArgument{{Name: argument, Value: "0.002"}},
	}}
	must(t, h.writeJSON(clusterConfigFile, map[string]string{"ClusterConfiguration": `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs: [{name: goaway-chance, value: "0.001"}]
`}))
	if last != nil {
		must(t, h.writeJSON(lastPatchFile, last))
	}
	return h
}

// The configuration of an operation is the same after every restart, and needs no API server.
func TestPatchedConfigurationIsReadFromTheOperation(t *testing.T) {
	const field = "apiServer.extraArgs.goaway-chance"
	for situation, c := range map[string]struct {
		last    configpatch.Values
		changes int
	}{
		"the value of the last patch":         {configpatch.Values{field: {"0.001"}}, 1},
		"edited by hand":                      {configpatch.Values{field: {"0.1"}}, 0},
		"saved by an agent of an older Refit": {nil, 0},
	} {
		t.Run(situation, func(t *testing.T) {
			h := patchedHost(t, "goaway-chance", c.last)
			for range 2 {
				config, err := h.readClusterConfig(t.Context())
				must(t, err)
				if len(config.Changes) != c.changes || len(config.Kept) != 1-c.changes {
					t.Errorf("changes %v, kept %v", config.Changes, config.Kept)
				}
			}
		})
	}
}

// The first node was upgraded to another ClusterRelease, or without Refit.
func TestOtherControlPlaneNodesRenderWhatIsStored(t *testing.T) {
	h := patchedHost(t, "goaway-chance", nil)
	must(t, h.writeJSON(clusterConfigFile, map[string]string{"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"}))
	for role, changes := range map[refitv1alpha1.Role]int{refitv1alpha1.RoleFirstControlPlane: 1, refitv1alpha1.RoleControlPlane: 0} {
		h.Upgrade.Role = role
		config, err := h.readClusterConfig(t.Context())
		must(t, err)
		if len(config.Changes) != changes {
			t.Errorf("%s: changes %v", role, config.Changes)
		}
	}
}

func TestPatchOfAnotherVersionIsRefusedBeforeTheSwap(t *testing.T) {
	h := patchedHost(t, "goaway-chanse", nil)
	config, err := h.readClusterConfig(t.Context())
	must(t, err)
	_, err = h.renderOver(t.Context(), config, nil)
	if f, ok := errors.AsType[*node.Failure](err); !ok || f.Reason != "PatchUnsupported" || !strings.Contains(f.Text(), "goaway-chanse") {
		t.Errorf("error %v", err)
	}
}
