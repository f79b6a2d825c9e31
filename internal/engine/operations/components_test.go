package operations

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestClusterReleasesThatChangeComponentsAlone(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	release := func(name, version string) *refitv1alpha1.ClusterRelease {
		return &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: version}}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1", Labels: map[string]string{controlPlaneLabel: ""}}}
	node.Status.NodeInfo.KubeletVersion = "v1.35.4"
	component := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "lws"}}
	for _, name := range []string{"same", "next"} { // the next one changes the component before the control plane
		component.Status.Offers = append(component.Status.Offers, refitv1alpha1.ComponentOffer{Release: refitv1alpha1.ReleaseRef{Name: name}, Kubernetes: "v1.35.4"})
	}
	c := &Cluster{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(node, component, release("same", "v1.35.4"), release("next", "v1.36.3")).Build()}
	known, err := c.Component(t.Context(), "lws")
	if err != nil || !slices.Equal(known.Alone, []string{"same"}) {
		t.Errorf("they are %v, %v", known.Alone, err)
	}
}
