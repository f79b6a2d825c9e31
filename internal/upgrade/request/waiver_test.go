package request_test

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

func TestWaivers(t *testing.T) {
	for text, want := range map[string]refitv1alpha1.Waiver{
		"BudgetNeverAllows/PodDisruptionBudget shop/cart=known, deleted at night": {
			Check: "BudgetNeverAllows", Object: "PodDisruptionBudget shop/cart", Reason: "known, deleted at night",
		},
		"EtcdTwoMembers=we accept a=b": {Check: "EtcdTwoMembers", Reason: "we accept a=b"},
	} {
		got, err := request.ParseWaiver(text)
		if err != nil || got != want {
			t.Errorf("ParseWaiver(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestAWaiverNamesItsObjectWithAKind(t *testing.T) {
	for text, accepted := range map[string]bool{
		"DiskTooSmall/worker-1=known":      false,
		"DiskTooSmall/Node worker-1=known": true,
		"EtcdTwoMembers/etcd=known":        true,
		"PartUnreadable/webhooks=known":    true,
	} {
		if _, err := request.ParseWaiver(text); (err == nil) != accepted {
			t.Errorf("ParseWaiver(%q) = %v", text, err)
		}
	}
}
