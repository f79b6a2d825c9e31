package rehearsal

import (
	"cmp"
	"slices"
	"strings"
)

// Resource is a resource in one version.
type Resource struct {
	Group    string `json:"group,omitempty"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

func (r Resource) String() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// Path returns the path of its list.
func (r Resource) Path() string {
	if r.Group == "" {
		return "/api/" + r.Version + "/" + r.Resource
	}
	return "/apis/" + r.Group + "/" + r.Version + "/" + r.Resource
}

// Served is a group and version of the API server's discovery.
type Served struct {
	Group, Version string
	Preferred      bool
	Resources      []string // that can be listed, without subresources
}

// Definition is what a rehearsal needs of a CustomResourceDefinition.
type Definition struct {
	Group, Resource string
	StorageVersion  string
	StoredVersions  []string
	// Served lists the versions that the API server serves.
	Served []string
	// Webhook is set if a webhook converts between versions.
	Webhook bool
}

// Select returns one version of each resource that etcd stores: all versions are read from the same
// objects. Aggregated groups are those of APIServices with a Service: another server stores them.
//
// A CRD with a conversion webhook is listed in its storage version, which needs no conversion.
// Discovery lists CRDs some time after the API server is ready, so the CRDs count, not discovery.
func Select(served []Served, definitions []Definition, aggregated map[string]bool) (list []Resource, skipped []string) {
	chosen := map[string]Resource{}
	preferred := map[string]bool{}
	for _, s := range served {
		if aggregated[s.Group+"/"+s.Version] {
			skipped = append(skipped, s.Version+"."+s.Group)
			continue
		}
		for _, name := range s.Resources {
			r := Resource{s.Group, s.Version, name}
			if _, known := chosen[r.String()]; !known || (s.Preferred && !preferred[r.String()]) {
				chosen[r.String()] = r
				preferred[r.String()] = s.Preferred
			}
		}
	}
	for _, d := range definitions {
		r := Resource{d.Group, d.version(), d.Resource}
		if r.Version != "" {
			chosen[r.String()] = r
		}
	}
	for _, r := range chosen {
		if !notStored(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Resource) int { return cmp.Compare(a.String(), b.String()) })
	slices.Sort(skipped)
	return list, slices.Compact(skipped)
}

// version returns the version in which a custom resource is listed: the storage version, or a
// served one if the storage version is not served. It is empty if none is.
func (d Definition) version() string {
	switch {
	case len(d.Served) == 0:
		return ""
	case slices.Contains(d.Served, d.StorageVersion):
		return d.StorageVersion
	default:
		return d.Served[0]
	}
}

// notStored reports whether the API server computes a resource, or stores it as that of another
// group.
func notStored(r Resource) bool {
	return r == Resource{"", r.Version, "componentstatuses"} || r == Resource{"events.k8s.io", r.Version, "events"} || strings.Contains(r.Resource, "/")
}

// Aggregated returns the groups and versions that an APIService with a Service provides, by
// "group/version".
func Aggregated(services []APIService) map[string]bool {
	all := map[string]bool{}
	for _, s := range services {
		if s.Service {
			all[s.Group+"/"+s.Version] = true
		}
	}
	return all
}

// APIService is what a rehearsal needs of an APIService.
type APIService struct {
	Group, Version string
	Service        bool // another server provides it
}
