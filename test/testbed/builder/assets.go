package builder

import (
	_ "embed"
	"strings"
)

// The texts of the node's services, as upstream's packages have them.
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
)

// inLocalBin is the text of a unit whose program was put into /usr/local/bin by
// hand, as kubeadm's instructions for "without a package manager" do it.
func inLocalBin(unit string) string { return strings.ReplaceAll(unit, "/usr/bin/", "/usr/local/bin/") }
