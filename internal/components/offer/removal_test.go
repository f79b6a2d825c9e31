package offer

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// liveCRD is a cluster with one CRD.
type liveCRD struct {
	noCRDs

	definition *crd.Definition
}

func (l liveCRD) Definitions(context.Context, ...string) (map[string]*crd.Definition, error) {
	return map[string]*crd.Definition{l.definition.Name: l.definition}, nil
}

// TestObjectsThatARemovalLeaves: their controller is removed, so their finalizers would stay.
func TestObjectsThatARemovalLeaves(t *testing.T) {
	const template = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.test}\n"
	definition := &crd.Definition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.test"}}
	definition.Spec.Group, definition.Spec.Names.ListKind = "example.test", "ThingList"
	definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}
	for objects, message := range map[int]string{0: "", 1: "1 objects of the CRD things.example.test stay", 7: "7 objects"} {
		reader := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
				found, is := list.(*metav1.PartialObjectMetadataList)
				if is && objects > 0 {
					found.Items, found.RemainingItemCount = make([]metav1.PartialObjectMetadata, 1), new(int64(objects-1))
				}
				return nil
			},
		}).Build()
		in := Input{
			Component: refitv1alpha1.ReleaseComponent{Name: "app", Version: "2.0.0", Release: refitv1alpha1.HelmRelease{Namespace: "shop", Name: "app"}},
			Archive:   packed(t, template), Action: component.Remove, From: "2.0.0", Capabilities: helm.Capabilities{Kubernetes: "v1.36.3"},
			Owner: refitv1alpha1.OwnerRefit, Deployed: &helm.Record{Revision: 1},
			Taken: func(context.Context, []helm.Ref) ([]helm.Ref, error) { return nil, nil },
		}
		o, err := Compute(t.Context(), Cluster{Reader: reader, CRDs: liveCRD{definition: definition}}, in)
		if err != nil || o.Digest == "" || (message == "") != (len(o.Problems) == 0) {
			t.Fatalf("%d objects: %+v, %v", objects, o, err)
		}
		if message != "" && (o.Problems[0].Blocks || o.Problems[0].Remedy == "" || !strings.Contains(o.Problems[0].Message, message)) {
			t.Errorf("%d objects: %+v", objects, o.Problems)
		}
		in.Archive = nil
		if without, err := Compute(t.Context(), Cluster{Reader: reader, CRDs: liveCRD{definition: definition}}, in); err != nil || without.Digest != o.Digest {
			t.Errorf("without the chart: %+v, %v", without, err)
		}
	}
}
