package offer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
)

func definitionOf(object helm.Object) (*crd.Definition, error) {
	definition := &crd.Definition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Content.Object, definition); err != nil {
		return nil, err
	}
	return definition, nil
}

// judge judges each CRD of the new version, and reports CRDs that only the old version has.
func (o *Offer) judge(ctx context.Context, cluster Cluster, in Input) error {
	var names []string
	for _, definition := range o.Definitions {
		names = append(names, definition.Name)
	}
	var former []string
	if in.Deployed != nil {
		for _, object := range in.Deployed.CRDs {
			former = append(former, object.Name)
		}
	}
	live, err := cluster.CRDs.Definitions(ctx, slices.Concat(names, former)...)
	if err != nil {
		return err
	}
	for _, definition := range o.Definitions {
		if err := o.judgeOne(ctx, cluster, live[definition.Name], definition); err != nil {
			return err
		}
		o.removesUsed(in.Deployed, definition)
		o.generatesCA(definition)
	}
	for _, name := range former {
		if live[name] != nil {
			if err := o.deletes(ctx, cluster.Reader, live[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *Offer) judgeOne(ctx context.Context, cluster Cluster, live, definition *crd.Definition) error {
	change := refitv1alpha1.CRDChange{Name: definition.Name}
	if live == nil {
		change.Storage = crd.StorageVersion(definition)
		o.CRDs = append(o.CRDs, change)
		return nil
	}
	report, err := cluster.CRDs.Judge(ctx, definition)
	if err != nil {
		return err
	}
	change.Objects = int64(report.Objects)
	if to := crd.StorageVersion(definition); to != crd.StorageVersion(live) {
		change.Storage = to
	}
	o.CRDs = append(o.CRDs, change)
	for i := range report.Findings {
		finding := &report.Findings[i]
		object := definition.Name
		if finding.Object != "" {
			object += " " + finding.Object
		}
		found := problem(string(finding.Reason), object, "%s", finding.Message)
		found.Blocks = finding.Severity == crd.Block
		o.add(found)
	}
	return nil
}

// removesUsed reports a CRD that no longer serves a version in which the deployed manifest has
// objects: with "no matches for kind", Helm can neither upgrade nor roll back the release then.
func (o *Offer) removesUsed(deployed *helm.Record, definition *crd.Definition) {
	if deployed == nil {
		return
	}
	var used []string
	for _, object := range deployed.Objects {
		if object.Group == definition.Spec.Group && object.Kind == definition.Spec.Names.Kind &&
			!crd.Serves(definition, object.Content.GroupVersionKind().Version) {
			used = append(used, object.String()+" in "+object.Content.GetAPIVersion())
		}
	}
	if len(used) > 0 {
		o.add(problem("CRDVersionInUse", definition.Name,
			"the installed version has %s, which the new CRD %s does not serve: Helm could no longer read its manifest", list(used), definition.Name))
	}
}

// caPath is where a CRD has the CA of its conversion webhook.
const caPath = "/spec/conversion/webhook/clientConfig/caBundle"

// generatesCA reports a CRD whose CA differs from one rendering to the next: each step renders the
// chart again, so that the Secret of the webhook would have a certificate of another CA.
func (o *Offer) generatesCA(definition *crd.Definition) {
	for ref, paths := range o.manifests.mask {
		if ref.CRD() && ref.Name == definition.Name && paths[caPath] && crd.BringsCA(definition) {
			o.add(problem("ChartGeneratesCA", definition.Name,
				"the chart generates another CA for the conversion webhook of the CRD %s each time that it is rendered", definition.Name))
		}
	}
}

// deletes reports a CRD that Helm would delete with all its objects. Refit keeps it: that blocks
// only if the new version does not have it at all, and there are objects.
func (o *Offer) deletes(ctx context.Context, reader client.Reader, live *crd.Definition) error {
	at := slices.IndexFunc(o.Upgrade.Rendering.CRDs, func(c helm.Object) bool { return c.Name == live.Name })
	if at >= 0 && !strings.Contains(o.Upgrade.Rendering.CRDs[at].Source, "crds/") {
		return nil
	}
	if at >= 0 {
		found := problem("UpgradeDeletesCRD", live.Name,
			"Helm alone would delete the CRD %s with all its objects, because it is no longer a template; Refit keeps it", live.Name)
		found.Blocks, found.Remedy = false, ""
		o.add(found)
		return nil
	}
	objects, err := countOf(ctx, reader, live)
	if err != nil {
		return err
	}
	if objects > 0 {
		o.add(problem("UpgradeDeletesCRD", live.Name, "the new version has no CRD %s, which has objects: Helm alone would delete them", live.Name))
	}
	return nil
}

// countOf returns how many objects a CRD has; 0 if no version is served: nobody uses them then, and
// Refit keeps them.
func countOf(ctx context.Context, reader client.Reader, live *crd.Definition) (int64, error) {
	served := crd.ServedVersion(live)
	if served == "" {
		return 0, nil
	}
	var objects metav1.PartialObjectMetadataList
	objects.SetGroupVersionKind(schema.GroupVersionKind{Group: live.Spec.Group, Version: served, Kind: live.Spec.Names.ListKind})
	if err := reader.List(ctx, &objects, client.Limit(1)); err != nil {
		return 0, fmt.Errorf("cannot list the objects of %s: %w", live.Name, err)
	}
	count := int64(len(objects.Items))
	if objects.RemainingItemCount != nil {
		count += *objects.RemainingItemCount
	}
	return count, nil
}
