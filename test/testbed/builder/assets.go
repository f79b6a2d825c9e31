package builder

import (
	_ "embed"
	"strings"
)

// The unit files and configuration of the node, as in the upstream packages, and sources.
var (
	//go:embed assets/kubelet.service
	kubeletUnit string
	//go:embed assets/10-kubeadm.conf
	kubeadmDropIn string
	//go:embed assets/containerd.service
	containerdUnit string
	//go:embed assets/containerd-config-v2.toml
	containerdConfigV2 string
	//go:embed assets/containerd-config-v3.toml
	containerdConfigV3 string
	// The main package of the OpenTelemetry Collector.
	//go:embed assets/collector.go.txt
	collectorMain string
)

// inLocalBin returns a unit whose binary is in /usr/local/bin, as in kubeadm's instructions
// "without a package manager".
func inLocalBin(unit string) string { return strings.ReplaceAll(unit, "/usr/bin/", "/usr/local/bin/") }
