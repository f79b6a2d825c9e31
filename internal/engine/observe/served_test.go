package observe

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestKindsOfANewerVersionAreNotServed(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	old := meta.NewDefaultRESTMapper(nil)
	old.Add(refitv1alpha1.GroupVersion.WithKind("ClusterUpgrade"), meta.RESTScopeRoot)
	if served, err := Served(old, scheme, &refitv1alpha1.ClusterUpgrade{}); err != nil || !served {
		t.Errorf("ClusterUpgrade is served: %v, %v", served, err)
	}
	if served, err := Served(old, scheme, &refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.EtcdBackup{}); err != nil || served {
		t.Errorf("EtcdBackup is served: %v, %v", served, err)
	}
}
