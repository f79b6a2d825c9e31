package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// crdsPerPage is small because a schema may have half a megabyte.
const crdsPerPage = 50

// crd are the used fields of a CustomResourceDefinition. Decoding drops the schemas.
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

func (obs *observation) readCRDs(ctx context.Context) error {
	crds := rawLister[crd](obs.raw, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "")
	return pages(ctx, list("customresourcedefinitions.apiextensions.k8s.io"), metav1.ListOptions{Limit: crdsPerPage}, crds,
		func(page *rawPage[crd]) error {
			for i := range page.Items {
				obs.snapshot.CRDs = append(obs.snapshot.CRDs, obs.crdOf(&page.Items[i]))
			}
			return nil
		})
}

func (obs *observation) crdOf(d *crd) cluster.CRD {
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
		// NamesAccepted, which has the reason.
		case c.Status == metav1.ConditionFalse && c.Message != "":
			out.Message = c.Message
		}
	}
	if out.Established == cluster.Yes {
		out.Message = ""
	}
	if service := d.Spec.Conversion.Webhook.ClientConfig.Service; service != nil {
		out.Conversion = obs.backend(service.Namespace, service.Name)
	}
	return out
}
