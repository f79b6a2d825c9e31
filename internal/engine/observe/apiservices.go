package observe

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const apiServicesPerPage = 500

// apiService are the used fields of an APIService, which avoids a dependency on the client of the
// aggregator.
type apiService struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Service *serviceRef `json:"service"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

type serviceRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// condition are the fields that all conditions have.
type condition struct {
	Type    string                 `json:"type"`
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
}

// readAPIServices reads the aggregated APIs. Those without a Service are local.
func (obs *observation) readAPIServices(ctx context.Context) error {
	services := rawLister[apiService](obs.raw, "/apis/apiregistration.k8s.io/v1/apiservices", "")
	return pages(ctx, list("apiservices.apiregistration.k8s.io"), metav1.ListOptions{Limit: apiServicesPerPage}, services,
		func(page *rawPage[apiService]) error {
			for i := range page.Items {
				if s := &page.Items[i]; s.Spec.Service != nil {
					obs.snapshot.APIs = append(obs.snapshot.APIs, obs.apiGroupOf(s))
				}
			}
			return nil
		})
}

func (obs *observation) apiGroupOf(s *apiService) cluster.APIGroup {
	out := cluster.APIGroup{Name: s.Name, Backend: obs.backend(s.Spec.Service.Namespace, s.Spec.Service.Name)}
	for _, c := range s.Status.Conditions {
		if c.Type == "Available" {
			out.Available = answerOf(c.Status)
			if out.Available != cluster.Yes {
				out.Message = c.Message
			}
		}
	}
	return out
}

func answerOf(status metav1.ConditionStatus) cluster.Answer {
	switch status {
	case metav1.ConditionTrue:
		return cluster.Yes
	case metav1.ConditionFalse:
		return cluster.No
	default:
		return cluster.Unknown
	}
}
