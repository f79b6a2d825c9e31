package offer

import (
	"context"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/refit-dev/refit/internal/engine/crd"
)

// noCRDs is a cluster without CRDs.
type noCRDs struct{}

func (noCRDs) Judge(context.Context, *crd.Definition) (*crd.Report, error) {
	return &crd.Report{}, nil
}

func (noCRDs) Definitions(context.Context, ...string) (map[string]*crd.Definition, error) {
	return nil, nil
}

// TestACRDThatOnlyTheOldVersionHas: its storage version need not be served.
func TestACRDThatOnlyTheOldVersionHas(t *testing.T) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.test", Version: "v1", Kind: "Thing"})
	for situation, c := range map[string]struct {
		served   map[string]bool
		problems int
	}{
		"the storage version is served":  {map[string]bool{"v1": true, "v2": true}, 1},
		"only another version is served": {map[string]bool{"v1": true, "v2": false}, 1},
		"no version is served":           {map[string]bool{"v1": false, "v2": false}, 0},
	} {
		definition := &crd.Definition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.test"}}
		definition.Spec.Group, definition.Spec.Names.ListKind = "example.test", "ThingList"
		for _, version := range []string{"v1", "v2"} {
			definition.Spec.Versions = append(definition.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
				Name: version, Served: c.served[version], Storage: version == "v2",
			})
		}
		reader := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithInterceptorFuncs(interceptor.Funcs{
			List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
				found := list.(*metav1.PartialObjectMetadataList)
				if !c.served[found.GroupVersionKind().Version] {
					return apierrors.NewNotFound(schema.GroupResource{}, "")
				}
				found.Items = append(found.Items, *object)
				return nil
			},
		}).Build()
		o := &Offer{}
		if err := o.deletes(t.Context(), reader, definition); err != nil || len(o.Problems) != c.problems {
			t.Errorf("%s: %+v, %v", situation, o.Problems, err)
		}
	}
}

// crdTemplate is a CRD with two versions.
const crdTemplate = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.test, annotations: {ANNOTATIONS}}
spec:
  group: example.test
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions:
  - {name: v1, served: SERVED, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {namespace: shop, name: app}, caBundle: CA}
`

func crdTemplateWith(replacements ...string) string {
	defaults := []string{"ANNOTATIONS", "", "SERVED", "true", "CA", "Q0E="}
	return strings.NewReplacer(append(replacements, defaults...)...).Replace(crdTemplate)
}

// blockingReasons returns the reasons of the problems of an offer that block.
func blockingReasons(o *Offer) string {
	var reasons []string
	for i := range o.Problems {
		if p := &o.Problems[i]; p.Blocks && p.Remedy != "" {
			reasons = append(reasons, p.Reason)
		}
	}
	return strings.Join(reasons, " ")
}

// TestACRDThatNoLongerServesAVersionOfTheDeployedManifest: Helm cannot read the manifest then.
func TestACRDThatNoLongerServesAVersionOfTheDeployedManifest(t *testing.T) {
	for situation, c := range map[string]struct{ version, served, reasons string }{
		"a version that is removed":   {"v1", "false", "CRDVersionInUse"},
		"a version that stays":        {"v1", "true", ""},
		"only others use the version": {"v2", "false", ""},
	} {
		o := computed(t, crdTemplateWith("SERVED", c.served), func(in *Input) {
			in.Deployed.Objects = objectsOf(t, "apiVersion: example.test/"+c.version+"\nkind: Thing\nmetadata: {name: a}\n")
		})
		if got := blockingReasons(o); got != c.reasons {
			t.Errorf("%s: %q, problems %+v", situation, got, o.Problems)
		}
	}
}

// TestACRDWithAGeneratedCA: the Secret of the webhook is rendered in another step.
func TestACRDWithAGeneratedCA(t *testing.T) {
	const random = `{{ (genCA "app" 1).Cert | b64enc }}`
	for situation, c := range map[string]struct{ ca, annotations, reasons string }{
		"generated":                {random, "", "ChartGeneratesCA"},
		"of the values":            {"Q0E=", "", ""},
		"replaced by a controller": {random, "cert-manager.io/inject-ca-from: shop/app", ""},
	} {
		o := computed(t, crdTemplateWith("CA", c.ca, "ANNOTATIONS", c.annotations), nil)
		if got := blockingReasons(o); got != c.reasons {
			t.Errorf("%s: %q, problems %+v", situation, got, o.Problems)
		}
	}
}

func TestAHelmReleaseInConfigMaps(t *testing.T) {
	o := computed(t, "{}", func(in *Input) {
		p := NewProblem("HelmStorageUnsupported", "it is stored in ConfigMaps")
		in.Unreadable = &p
	})
	if len(o.Problems) != 1 || o.Problems[0].Remedy == "" || o.Digest != "" {
		t.Errorf("the offer is %+v", o)
	}
}
