// Command kubeadm prints facts about kubeadm: what it installs, accepts and does.
package main

import (
	"os"
	"slices"
	"strings"

	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
	"k8s.io/kubernetes/cmd/kubeadm/app/features"
	"refit.testbed/query/result"
)

type kubeadm struct {
	Etcd            string          `json:"etcd"`
	MinExternalEtcd string          `json:"minExternalEtcd"`
	CoreDNS         string          `json:"coreDNS"`
	Pause           string          `json:"pause"`
	ConfigVersions  []configVersion `json:"configVersions"`
	Gates           []result.Gate   `json:"gates"`
	UpgradeApply    []phase         `json:"upgradeApply"`
	UpgradeNode     []phase         `json:"upgradeNode"`
}

func main() {
	source := os.Args[1]
	apply, err := phases(source, "apply")
	if err != nil {
		result.Fail(err)
	}
	node, err := phases(source, "node")
	if err != nil {
		result.Fail(err)
	}
	versions, err := configVersions()
	if err != nil {
		result.Fail(err)
	}
	result.Print(kubeadm{
		Etcd:            constants.DefaultEtcdVersion,
		MinExternalEtcd: constants.MinExternalEtcdVersion,
		CoreDNS:         constants.CoreDNSVersion,
		Pause:           constants.PauseVersion,
		ConfigVersions:  versions,
		Gates:           gates(),
		UpgradeApply:    apply,
		UpgradeNode:     node,
	})
}

func gates() []result.Gate {
	var all []result.Gate
	for name, feature := range features.InitFeatureGates {
		gate := result.GateOf(name, feature.FeatureSpec, nil)
		gate.Deprecated = feature.DeprecationMessage
		all = append(all, gate)
	}
	slices.SortFunc(all, func(a, b result.Gate) int { return strings.Compare(a.Name, b.Name) })
	return all
}
