package kubefacts

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// API finds a kind. An unknown kind is not one of Kubernetes, unless its group is BuiltIn.
func (f *Facts) API(kind schema.GroupVersionKind) (API, bool) {
	for _, api := range f.APIs {
		if api.GVK() == kind {
			return api, true
		}
	}
	return API{}, false
}

// Resource finds a resource, as metrics and URLs name it.
func (f *Facts) Resource(resource schema.GroupVersionResource) (API, bool) {
	for _, api := range f.APIs {
		if api.GVR() == resource {
			return api, true
		}
	}
	return API{}, false
}

// BuiltIn reports whether a group belongs to Kubernetes itself and not to a CRD. A kind of such a
// group that API does not find was removed long ago or never existed.
func (f *Facts) BuiltIn(group string) bool {
	for _, api := range f.APIs {
		if api.Group == group {
			return true
		}
	}
	return false
}

// Serves reports whether a release can serve any kind of a group and version.
func (f *Facts) Serves(version schema.GroupVersion) bool {
	for _, api := range f.APIs {
		if api.Served && api.GVK().GroupVersion() == version {
			return true
		}
	}
	return false
}

// AcceptsRuntimeConfig reports whether kube-apiserver starts with a key, such as "api/beta" or
// "batch/v1/jobs", in its --runtime-config. It accepts some keys that no longer enable anything:
// see Serves.
func (f *Facts) AcceptsRuntimeConfig(key string) bool {
	switch key {
	case "api/all", "api/ga", "api/beta", "api/alpha":
		return true
	}
	tokens := strings.Split(key, "/")
	if len(tokens) != 2 && len(tokens) != 3 {
		return false
	}
	version := schema.GroupVersion{Group: tokens[0], Version: tokens[1]}
	return slices.Contains(f.RuntimeConfig, version.String())
}

// RemovedAPIs lists the kinds that one release can serve and another cannot.
func RemovedAPIs(from, to *Facts) []API {
	var removed []API
	for _, api := range from.APIs {
		if !api.Served {
			continue
		}
		after, known := to.API(api.GVK())
		switch {
		case !known:
			api.Served, api.Default = false, false
			removed = append(removed, api)
		case !after.Served:
			removed = append(removed, after)
		}
	}
	return removed
}

// GVK is the kind with its group and version.
func (a API) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: a.Group, Version: a.Version, Kind: a.Kind}
}

// GVR is the resource with its group and version. Its Resource is empty if it is unknown.
func (a API) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: a.Group, Version: a.Version, Resource: a.Resource}
}
