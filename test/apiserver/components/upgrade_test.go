//go:build apiserver

package components

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
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

// TestAnInstalledVersionThatIsLongerThanTheAPIPermits: the chart of somebody else has one.
func TestAnInstalledVersionThatIsLongerThanTheAPIPermits(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	dir := filepath.Join(t.TempDir(), "made")
	must(t, os.CopyFS(dir, os.DirFS("testdata/made-1")))
	file := filepath.Join(dir, "Chart.yaml")
	content, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(content), "version: 1.0.0", "version: 1.0.0+"+strings.Repeat("a", 80), 1)), 0o600))
	archive, err := helm.Pack(dir)
	must(t, err)
	m.install(archive, nil)
	m.order(m.offer())
	if u := m.ended(refitv1alpha1.ComponentSucceeded); u.Status.From != "1.0.0" {
		t.Errorf("from %q", u.Status.From)
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
