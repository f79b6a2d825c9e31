package text_test

import (
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func TestReleasesPage(t *testing.T) {
	const key = "SHA256:50TAeRMgwyhUYO3bUj8UyI2FetpGuXpWkNiM+Xi5GR8"
	list := &cliv1alpha1.Releases{Cluster: "prod", Releases: []cliv1alpha1.ListedRelease{
		{Name: "kubernetes-v1.37.1", Kubernetes: "v1.37.1", KeyID: key, CreateTime: noon.Add(-time.Hour), Operations: []string{"to-v1-37-1"}, VerifiedHosts: 2},
		{
			Name: "kubernetes-v1.36.3", Kubernetes: "v1.36.3", KeyID: key, CreateTime: noon.AddDate(0, 0, -40), VerifiedHosts: 5,
			Components: []cliv1alpha1.ListedComponent{{Name: "liqo", Version: "v1.2.0"}, {Name: "metrics-server", Version: "3.13.1"}},
		},
		{Name: "kubernetes-v1.35.4", Kubernetes: "v1.35.4", KeyID: key, CreateTime: noon.AddDate(0, 0, -200), RejectedHosts: 1},
		{Name: "broken", Kubernetes: "v1.34.4", CreateTime: noon.AddDate(0, 0, -300), Problem: "the envelope is not valid JSON"},
	}}
	golden(t, "releases", text.Releases(list, noon, "refit"), 170)
	golden(t, "releases-none", text.Releases(&cliv1alpha1.Releases{Cluster: "prod"}, noon, "refit"), 170)
}
