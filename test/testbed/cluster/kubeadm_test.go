package cluster

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestKubeadmWaitsLongerOnSlowMachines(t *testing.T) {
	c := specOf(t, func(*Spec) {})
	for factor, want := range map[string]string{"": "", "10": "40m0s"} {
		t.Setenv("REFIT_TESTBED_TIMEOUT_FACTOR", factor)
		for _, first := range []bool{true, false} {
			var text bytes.Buffer
			err := kubeadmConfig.Execute(&text, map[string]any{
				"Node": c.Nodes()[0], "Cluster": c, "Secrets": secrets{}, "First": first, "Port": apiPort, "PodSubnet": "", "ServiceSubnet": "",
				"IgnoredPreflight": "", "Untainted": true, "Timeouts": kubeadmTimeouts(),
			})
			if err != nil {
				t.Fatal(err)
			}
			document, _, _ := strings.Cut(text.String(), "\n---\n")
			var config struct {
				Kind             string
				NodeRegistration struct{ Taints []string }
				Timeouts         map[string]string
			}
			if err := yaml.Unmarshal([]byte(document), &config); err != nil {
				t.Fatalf("%v: %s", err, document)
			}
			if config.Timeouts["kubeletHealthCheck"] != want || config.NodeRegistration.Taints == nil {
				t.Errorf("factor %q, %s: timeouts %v in %s", factor, config.Kind, config.Timeouts, document)
			}
		}
	}
}
