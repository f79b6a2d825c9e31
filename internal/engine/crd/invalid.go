package crd

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// invalid validates the update of a definition as the API server of the imported version does it,
// and returns the errors that no other finding explains. A dry run on the cluster remains the last
// word: an older server knows fewer fields and formats.
func invalid(ctx context.Context, change Change, explained []Finding) []Finding {
	if apiequality.Semantic.DeepEqual(change.Old.Spec, change.New.Spec) {
		return nil // nothing is written
	}
	before, err := internal(change.Old)
	if err != nil {
		return nil // the cluster has it
	}
	after, err := internal(change.New)
	if err != nil {
		return []Finding{refusedChange(DefinitionInvalid, "", "the API server refuses the CRD: %v", err)}
	}
	before.ResourceVersion = cmp.Or(before.ResourceVersion, "1") // a manifest has none
	before.Status.StoredVersions = storedVersions(change.Old)
	after.ObjectMeta, after.Status = before.ObjectMeta, *before.Status.DeepCopy()
	for _, v := range after.Spec.Versions {
		if v.Storage && !slices.Contains(after.Status.StoredVersions, v.Name) {
			after.Status.StoredVersions = append(after.Status.StoredVersions, v.Name)
		}
	}
	refused := slices.ContainsFunc(explained, func(f Finding) bool { return f.Reason == ChangeRefused })
	var found []Finding
	for _, err := range validation.ValidateCustomResourceDefinitionUpdate(ctx, after, before) {
		if refused && explainedBefore(err) {
			continue
		}
		found = append(found, refusedChange(DefinitionInvalid, err.Field, "the API server refuses the CRD: %s: %s", err.Field, err.ErrorBody()))
	}
	return found
}

// explainedBefore reports whether an error is about a field that a comparison has refused.
func explainedBefore(err *field.Error) bool {
	compared := []string{"spec.scope", "spec.group", "spec.names.plural", "spec.names.kind", "metadata.name", "status.storedVersions[*]"}
	return slices.Contains(compared, withoutIndexes(err.Field))
}

func internal(crd *Definition) (*apiextensions.CustomResourceDefinition, error) {
	defaulted := crd.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(defaulted)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&defaulted.Spec)
	if c := defaulted.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.Service != nil {
		apiextensionsv1.SetDefaults_ServiceReference(c.Webhook.ClientConfig.Service)
	}
	out := &apiextensions.CustomResourceDefinition{}
	err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(defaulted, out, nil)
	return out, err
}
