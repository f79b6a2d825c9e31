package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// crdsPerPage is small because of their schemas, which may have half a megabyte each.
const crdsPerPage = 50

// crd is a CustomResourceDefinition as far as it is read. Schemas are dropped while decoding.
type crd struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Group string `json:"group"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name    string `json:"name"`
			Served  bool   `json:"served"`
			Storage bool   `json:"storage"`
		} `json:"versions"`
		Conversion struct {
			Webhook struct {
				ClientConfig struct {
					Service *serviceRef `json:"service"`
				} `json:"clientConfig"`
			} `json:"webhook"`
		} `json:"conversion"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string    `json:"storedVersions"`
		Conditions     []condition `json:"conditions"`
	} `json:"status"`
}

func (g *gathering) readCRDs(ctx context.Context) error {
	crds := rawLister[crd](g.raw, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "")
	return pages(ctx, list("customresourcedefinitions.apiextensions.k8s.io"), metav1.ListOptions{Limit: crdsPerPage}, crds,
		func(page *rawPage[crd]) error {
			for i := range page.Items {
				g.snapshot.CRDs = append(g.snapshot.CRDs, g.crdOf(&page.Items[i]))
			}
			return nil
		})
}

func (g *gathering) crdOf(d *crd) cluster.CRD {
	out := cluster.CRD{Name: d.Name, Group: d.Spec.Group, Kind: d.Spec.Names.Kind, StoredVersions: d.Status.StoredVersions}
	for _, v := range d.Spec.Versions {
		out.Versions = append(out.Versions, v.Name)
		if v.Served {
			out.Served = append(out.Served, v.Name)
		}
		if v.Storage {
			out.Storage = v.Name
		}
	}
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == "Established":
			out.Established = answerOf(c.Status)
		case c.Status == metav1.ConditionFalse && c.Message != "": // NamesAccepted, which tells why it is not established
			out.Message = c.Message
		}
	}
	if out.Established == cluster.Yes {
		out.Message = ""
	}
	if service := d.Spec.Conversion.Webhook.ClientConfig.Service; service != nil {
		out.Conversion = g.backend(service.Namespace, service.Name)
	}
	return out
}
