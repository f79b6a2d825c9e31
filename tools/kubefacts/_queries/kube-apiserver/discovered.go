package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/pkg/controlplane"
)

// discovered reads the discovery documents in the source. A kube-apiserver of this release
// generated them with all API versions and feature gates enabled, so they list everything that it
// can serve.
func discovered(source string) (map[schema.GroupVersionKind]api, error) {
	files, err := filepath.Glob(filepath.Join(source, "api", "discovery", "*.json"))
	if err != nil {
		return nil, err
	}
	known := map[schema.GroupVersionKind]api{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var list metav1.APIResourceList
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("reading %s: %w", filepath.Base(file), err)
		}
		if list.Kind == "APIResourceList" {
			if err := addResources(known, list); err != nil {
				return nil, err
			}
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("no discovery documents in %s", source)
	}
	return known, nil
}

func addResources(known map[schema.GroupVersionKind]api, list metav1.APIResourceList) error {
	version, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return err
	}
	for _, resource := range list.APIResources {
		if strings.Contains(resource.Name, "/") {
			continue // a subresource
		}
		known[version.WithKind(resource.Kind)] = api{
			Group: version.Group, Version: version.Version, Kind: resource.Kind,
			Resource: resource.Name, Namespaced: resource.Namespaced,
			Served: true, Default: byDefault(version.WithResource(resource.Name)),
		}
	}
	return nil
}

// byDefault returns the defaults of kube-apiserver and the two servers that are built into it.
func byDefault(resource schema.GroupVersionResource) bool {
	return controlplane.DefaultAPIResourceConfigSource().ResourceEnabled(resource) ||
		apiextensions.DefaultAPIResourceConfigSource().ResourceEnabled(resource) ||
		aggregator.DefaultAPIResourceConfigSource().ResourceEnabled(resource)
}
