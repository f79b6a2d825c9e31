package rehearsal_test

import (
	"slices"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

func TestSelect(t *testing.T) {
	served := []rehearsal.Served{
		{Version: "v1", Preferred: true, Resources: []string{"pods", "events", "componentstatuses"}},
		{Group: "autoscaling", Version: "v1", Resources: []string{"horizontalpodautoscalers", "old"}},
		{Group: "autoscaling", Version: "v2", Preferred: true, Resources: []string{"horizontalpodautoscalers"}},
		{Group: "events.k8s.io", Version: "v1", Preferred: true, Resources: []string{"events"}},
		{Group: "metrics.k8s.io", Version: "v1beta1", Preferred: true, Resources: []string{"nodes", "pods"}},
		{Group: "shop.example", Version: "v2", Preferred: true, Resources: []string{"carts"}},
	}
	definitions := []rehearsal.Definition{
		{Group: "shop.example", Resource: "carts", StorageVersion: "v1", Served: []string{"v2", "v1"}, Webhook: true},
		{Group: "late.example", Resource: "orders", StorageVersion: "v1", Served: []string{"v1"}}, // discovery does not list it yet
		{Group: "odd.example", Resource: "parts", StorageVersion: "v1", Served: []string{"v2"}},
		{Group: "off.example", Resource: "gone", StorageVersion: "v1"},
	}
	services := []rehearsal.APIService{{Group: "metrics.k8s.io", Version: "v1beta1", Service: true}, {Group: "autoscaling", Version: "v2"}}
	list, skipped := rehearsal.Select(served, definitions, rehearsal.Aggregated(services))
	var got []string
	for _, r := range list {
		got = append(got, r.Path())
	}
	want := []string{
		"/apis/shop.example/v1/carts", "/api/v1/events", "/apis/autoscaling/v2/horizontalpodautoscalers", "/apis/autoscaling/v1/old",
		"/apis/late.example/v1/orders", "/apis/odd.example/v2/parts", "/api/v1/pods",
	}
	if !slices.Equal(want, got) {
		t.Errorf("%v", got)
	}
	if !slices.Equal(skipped, []string{"v1beta1.metrics.k8s.io"}) {
		t.Errorf("skipped %v", skipped)
	}
}
