//go:build apiserver

package components

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestUpgradeByOrder(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	offer := m.offer()
	if offer.Digest == "" || offer.Action != refitv1alpha1.ActionUpgrade || blocked(offer) != "" ||
		offer.Changes != (refitv1alpha1.ObjectChanges{Create: 1, Change: 2, Delete: 1}) || offer.CRDs[0].Storage != "v2" || offer.CRDs[0].Objects != 1 {
		t.Fatalf("the offer is %+v", offer)
	}
	m.order(offer)
	u := m.ended(refitv1alpha1.ComponentSucceeded)
	if u.Status.Frozen != nil || u.Status.ObservedSequence != sequence || u.Status.Error != nil || len(u.Status.Left) > 0 {
		t.Errorf("the status is %+v", u.Status)
	}
	t.Log(m.state())
	if c := m.component(); c.Status.Installed == nil || c.Status.Installed.Version != "2.0.0" || c.Status.Owner != refitv1alpha1.OwnerRefit ||
		c.Status.Offers[0].Action != refitv1alpha1.ActionNone {
		t.Errorf("the component is %+v", c.Status)
	}
	var settings corev1.ConfigMap
	must(t, m.client.Get(t.Context(), client.ObjectKey{Namespace: m.name, Name: m.name + "-settings"}, &settings))
	if settings.Data["version"] != "2.0.0" {
		t.Errorf("the settings are %v", settings.Data)
	}
}

// blocked returns the reason of the first problem that blocks.
func blocked(offer refitv1alpha1.ComponentOffer) string {
	for _, problem := range offer.Problems {
		if problem.Blocks {
			return problem.Reason
		}
	}
	return ""
}
