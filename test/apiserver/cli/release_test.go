//go:build apiserver

package cli

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
)

// The client of the CLI knows every kind that a command uses: it has no API discovery.
func TestClusterReleaseIsAddedOnce(t *testing.T) {
	b := newBed(t)
	objects, err := operations.NewClient(b.RESTConfig())
	must(t, err)
	c := &operations.Cluster{Client: objects, Now: time.Now}
	b.deleteAll(t, &refitv1alpha1.ClusterRelease{})
	if _, err := c.Release(t.Context(), "kubernetes-v1.36.3"); !apierrors.IsNotFound(err) {
		t.Errorf("before: %v", err)
	}
	release := &refitv1alpha1.ClusterRelease{
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes-v1.36.3"},
		Spec:       refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: []byte(`{"payloadType":"x"}`)},
	}
	must(t, c.CreateRelease(t.Context(), release))
	if found, err := c.Release(t.Context(), release.Name); err != nil || found.Spec.Kubernetes != "v1.36.3" {
		t.Errorf("after: %+v, %v", found, err)
	}
	again := release.DeepCopy()
	again.ResourceVersion = ""
	if err := c.CreateRelease(t.Context(), again); !apierrors.IsAlreadyExists(err) {
		t.Errorf("again: %v", err)
	}
}
