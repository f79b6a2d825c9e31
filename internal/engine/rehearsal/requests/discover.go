package requests

import (
	"context"
	"net/url"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

const (
	accepts   = "application/json"
	discovers = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// discover returns the resources to list, and the aggregated groups that are left out.
func (a *APIServer) discover(ctx context.Context) ([]rehearsal.Resource, []string, error) {
	var served []rehearsal.Served
	for _, path := range []string{"/api", "/apis"} {
		var groups apidiscoveryv2.APIGroupDiscoveryList
		if err := a.retry(ctx, path, discovers, &groups); err != nil {
			return nil, nil, err
		}
		served = append(served, servedBy(groups)...)
	}
	definitions, err := a.definitions(ctx)
	if err != nil {
		return nil, nil, err
	}
	services, err := a.services(ctx)
	if err != nil {
		return nil, nil, err
	}
	list, skipped := rehearsal.Select(served, definitions, rehearsal.Aggregated(services))
	return list, skipped, nil
}

func servedBy(groups apidiscoveryv2.APIGroupDiscoveryList) []rehearsal.Served {
	var list []rehearsal.Served
	for _, group := range groups.Items {
		for i, version := range group.Versions { // the preferred version is the first
			s := rehearsal.Served{Group: group.Name, Version: version.Version, Preferred: i == 0}
			for _, resource := range version.Resources {
				if slices.Contains(resource.Verbs, "list") {
					s.Resources = append(s.Resources, resource.Resource)
				}
			}
			list = append(list, s)
		}
	}
	return list
}

// definition is the part of a CustomResourceDefinition that matters here.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Names struct {
			Plural string `json:"plural"`
		} `json:"names"`
		Conversion *struct {
			Strategy string `json:"strategy"`
		} `json:"conversion"`
		Versions []struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string `json:"storedVersions"`
	} `json:"status"`
}

func (a *APIServer) definitions(ctx context.Context) ([]rehearsal.Definition, error) {
	var list []rehearsal.Definition
	err := pages(ctx, a, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", accepts, 20, func(items []definition) {
		for _, item := range items {
			d := rehearsal.Definition{Group: item.Spec.Group, Resource: item.Spec.Names.Plural, StoredVersions: item.Status.StoredVersions}
			d.Webhook = item.Spec.Conversion != nil && item.Spec.Conversion.Strategy == "Webhook"
			for _, version := range item.Spec.Versions {
				if version.Storage {
					d.StorageVersion = version.Name
				}
				if version.Served {
					d.Served = append(d.Served, version.Name)
				}
			}
			list = append(list, d)
		}
	})
	return list, err
}

// service is the part of an APIService that matters here.
type service struct {
	Spec struct {
		Group   string    `json:"group"`
		Version string    `json:"version"`
		Service *struct{} `json:"service"`
	} `json:"spec"`
}

func (a *APIServer) services(ctx context.Context) ([]rehearsal.APIService, error) {
	var list []rehearsal.APIService
	err := pages(ctx, a, "/apis/apiregistration.k8s.io/v1/apiservices", accepts, 500, func(items []service) {
		for _, item := range items {
			list = append(list, rehearsal.APIService{Group: item.Spec.Group, Version: item.Spec.Version, Service: item.Spec.Service != nil})
		}
	})
	return list, err
}

// page is one page of a list.
type page[T any] struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// pages gets a list page by page. A token expires if the list takes longer than the compaction
// interval; the list then starts again once.
func pages[T any](ctx context.Context, a *APIServer, path, accept string, limit int, take func([]T)) error {
	query := url.Values{"limit": {itoa(limit)}}
	for expired := false; ; {
		var p page[T]
		err := a.retry(ctx, path+"?"+query.Encode(), accept, &p)
		if gone(err) && !expired {
			expired = true
			query.Del("continue")
			continue
		}
		if err != nil {
			return err
		}
		take(p.Items)
		if p.Metadata.Continue == "" {
			return nil
		}
		query.Set("continue", p.Metadata.Continue)
	}
}
