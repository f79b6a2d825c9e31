package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	componentversion "k8s.io/component-base/version"
	"k8s.io/klog/v2"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config"
)

type configVersion struct {
	Version    string `json:"version"`
	Deprecated bool   `json:"deprecated,omitempty"`
	Written    bool   `json:"written,omitempty"`
}

// sample contains everything that kubeadm would otherwise detect on the machine or in the network.
const sample = `apiVersion: kubeadm.k8s.io/%[1]s
kind: ClusterConfiguration
kubernetesVersion: %[2]s
---
apiVersion: kubeadm.k8s.io/%[1]s
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 192.0.2.1}
nodeRegistration: {name: node, criSocket: "unix:///run/containerd/containerd.sock"}
`

// configVersions tries every version of ClusterConfiguration: kubeadm has types for versions that
// are too old or too new to be accepted.
func configVersions() ([]configVersion, error) {
	var log bytes.Buffer
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	var accepted []configVersion
	for kind := range scheme.Scheme.AllKnownTypes() {
		if kind.Group != kubeadmapi.GroupName || kind.Kind != "ClusterConfiguration" || kind.Version == runtime.APIVersionInternal {
			continue
		}
		log.Reset()
		_, err := config.BytesToInitConfiguration(fmt.Appendf(nil, sample, kind.Version, componentversion.Get().GitVersion), true)
		klog.Flush()
		if err != nil {
			if refusal := err.Error(); !strings.Contains(refusal, "API spec") {
				return nil, fmt.Errorf("reading a configuration in %s: %w", kind.Version, err)
			}
			continue
		}
		accepted = append(accepted, configVersion{
			Version:    kind.Version,
			Deprecated: strings.Contains(log.String(), "deprecated API spec"),
			Written:    kind.GroupVersion() == scheme.Scheme.PrioritizedVersionsForGroup(kubeadmapi.GroupName)[0],
		})
	}
	if len(accepted) == 0 {
		return nil, errors.New("kubeadm accepts no version of its own configuration")
	}
	slices.SortFunc(accepted, func(a, b configVersion) int { return version.CompareKubeAwareVersionStrings(a.Version, b.Version) })
	return accepted, nil
}
