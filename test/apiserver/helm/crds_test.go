//go:build apiserver

package helm

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// TestAnUpgradeThatWouldDeleteACRD upgrades a release whose old chart has a CRD among its templates
// to a chart without it. Helm alone would delete the CRD.
func TestAnUpgradeThatWouldDeleteACRD(t *testing.T) {
	t.Parallel()
	s := apiserver.Shared(t, apiserver.Options{})
	l := newLane(t, s, extended(t, "1", "crd.yaml"), made(t, 2))
	l.bareInstallWithCRD()
	client, err := dynamic.NewForConfig(l.config)
	must(t, err)
	name := "things." + l.release.Name + ".test"
	before, err := client.Resource(crdResource).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)

	counted := &apiserver.Killer{}
	var deletion *helm.DeletionError
	if _, err := l.client(counted).Adopt(bounded(t), l.mark("adopt")); !errors.As(err, &deletion) || counted.Writes() != 0 {
		t.Errorf("Adopt() = %v, with %d writes", err, counted.Writes())
	}
	kept, err := l.client(&apiserver.Killer{}).KeepCRDs(bounded(t), l.to.Rendering)
	if err != nil || len(kept) != 1 || kept[0] != name {
		t.Fatalf("KeepCRDs() = %v, %v", kept, err)
	}
	l.run(l.upgrade(), &apiserver.Killer{})
	l.run(l.rollback(), &apiserver.Killer{})
	after, err := client.Resource(crdResource).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	if before.GetUID() != after.GetUID() || after.GetDeletionTimestamp() != nil {
		t.Error("the CRD was deleted")
	}
	if err := l.client(&apiserver.Killer{}).Rollback(bounded(t), l.mark("too-far"), 1, nil, hookTimeout); err == nil {
		t.Error("a rollback to a revision with CRDs did not fail")
	}
}

func (l *lane) bareInstallWithCRD() {
	l.t.Helper()
	bareInstall(l.t, l.config, l.release.Namespace, l.release.Name, extendedContent(l.t, "1", "crd.yaml"), true)
}
