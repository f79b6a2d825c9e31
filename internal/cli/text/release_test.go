package text_test

import (
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func TestReleaseShowsItsConfiguration(t *testing.T) {
	payload := refitv1alpha1.ReleasePayload{Kubernetes: "v1.36.3", ClusterConfiguration: &refitv1alpha1.ClusterConfigurationPatch{
		APIServer:    &refitv1alpha1.ControlPlaneComponentPatch{ExtraArgs: []refitv1alpha1.ReleaseArgument{{Name: "audit-log-maxage", Value: "10"}}},
		FeatureGates: map[string]bool{"NodeLocalCRISocket": true},
	}}
	shown := text.Release(&cliv1alpha1.ReleaseContent{Content: payload})
	if want := "\nkubeadm configuration\n  apiServer.extraArgs.audit-log-maxage=10\n  featureGates.NodeLocalCRISocket=true\n"; !strings.Contains(shown, want) {
		t.Errorf("got\n%s", shown)
	}
	made := text.ReleaseMade(&text.MadeRelease{Payload: payload})
	if want := "kubeadm configuration: apiServer.extraArgs.audit-log-maxage=10 and featureGates.NodeLocalCRISocket=true\n"; !strings.Contains(made, want) {
		t.Errorf("got\n%s", made)
	}
	payload.ClusterConfiguration = nil
	if text := text.Release(&cliv1alpha1.ReleaseContent{Content: payload}); strings.Contains(text, "configuration") {
		t.Errorf("got\n%s", text)
	}
}
