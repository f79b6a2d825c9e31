package main

import (
	"slices"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// groupVersions are valid in --runtime-config. They include versions that are not served: types
// stay registered as long as etcd may contain such objects.
func groupVersions() []string {
	var list []string
	for _, version := range slices.Concat(
		legacyscheme.Scheme.PrioritizedVersionsAllGroups(),
		apiextensions.Scheme.PrioritizedVersionsAllGroups(),
		aggregator.Scheme.PrioritizedVersionsAllGroups(),
	) {
		list = append(list, version.String())
	}
	slices.Sort(list)
	return slices.Compact(list)
}
