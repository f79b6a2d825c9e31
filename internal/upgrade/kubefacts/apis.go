package kubefacts

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// API finds what a release knows of a kind. Kinds that are unknown belong to
// somebody else, unless the group is BuiltIn.
func (f *Facts) API(kind schema.GroupVersionKind) (API, bool) {
	for _, api := range f.APIs {
		if api.GVK() == kind {
			return api, true
		}
	}
	return API{}, false
}

// Resource finds what a release knows of a resource, as metrics and URLs name it.
func (f *Facts) Resource(resource schema.GroupVersionResource) (API, bool) {
	for _, api := range f.APIs {
		if api.GVR() == resource {
			return api, true
		}
	}
	return API{}, false
}

// BuiltIn says whether a group belongs to Kubernetes itself, and so to no
// CustomResourceDefinition. A kind of such a group that API does not find was
// removed so long ago that the source has forgotten it, or never was.
func (f *Facts) BuiltIn(group string) bool {
	for _, api := range f.APIs {
		if api.Group == group {
			return true
		}
	}
	return false
}

// Serves says whether a release can serve any kind of a group and version.
func (f *Facts) Serves(version schema.GroupVersion) bool {
	for _, api := range f.APIs {
		if api.Served && api.GVK().GroupVersion() == version {
			return true
		}
	}
	return false
}

// AcceptsRuntimeConfig says whether kube-apiserver starts with a key, such as
// "api/beta" or "batch/v1/jobs", in its --runtime-config. It accepts some keys
// that turn nothing on any more: see Serves.
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

// RemovedAPIs lists the kinds that one release can serve and another cannot, with
// what the source of either says about them.
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

// GVR is the resource with its group and version; Resource is empty where no
// release tells it.
func (a API) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: a.Group, Version: a.Version, Resource: a.Resource}
}
