package components

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
)

const (
	// annotationUnused is on a chart that nothing needs; its value is since when.
	annotationUnused = "refit.dev/unused-since"
	// chartInterval is how often charts are collected, and chartGrace how long one stays that
	// nothing needs: charts are added before their ClusterRelease.
	chartInterval, chartGrace = time.Hour, 24 * time.Hour
)

// collectCharts deletes charts that no ClusterRelease has and no upgrade needs.
func (r *Runner) collectCharts(ctx context.Context) {
	if err := r.collect(ctx); err != nil && ctx.Err() == nil {
		r.log.WarnContext(ctx, "Cannot delete unused charts, trying again", "after", chartInterval.String(), "error", err)
	}
}

func (r *Runner) collect(ctx context.Context) error {
	var stored metav1.PartialObjectMetadataList
	stored.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := r.client.List(ctx, &stored, client.InNamespace(charts.Namespace), client.HasLabels{charts.Label}); err != nil {
		return fmt.Errorf("cannot list charts: %w", err)
	}
	needed, err := r.neededCharts(ctx) // read last, so that a chart that is added meanwhile is not listed
	if err != nil {
		return err
	}
	for i := range stored.Items {
		err := r.collectOne(ctx, &stored.Items[i], needed[stored.Items[i].Name])
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete the chart %s: %w", stored.Items[i].Name, err)
		}
	}
	return nil
}

// collectOne marks a chart that is not needed, and deletes it if it was marked long ago.
func (r *Runner) collectOne(ctx context.Context, chart *metav1.PartialObjectMetadata, needed bool) error {
	marked, isMarked := chart.Annotations[annotationUnused]
	since, err := time.Parse(time.RFC3339, marked)
	before := chart.DeepCopy()
	switch {
	case needed && !isMarked:
		return nil
	case needed:
		delete(chart.Annotations, annotationUnused)
	case err != nil: // not marked, or by somebody else
		metav1.SetMetaDataAnnotation(&chart.ObjectMeta, annotationUnused, r.now().UTC().Format(time.RFC3339))
	case r.now().Sub(since) < chartGrace:
		return nil
	default:
		r.log.InfoContext(ctx, "Deleting an unused chart", "chart", chart.Name)
		uid, version := chart.UID, chart.ResourceVersion
		return r.client.Delete(ctx, chart, client.Preconditions{UID: &uid, ResourceVersion: &version})
	}
	return r.client.Patch(ctx, chart, client.MergeFrom(before), client.FieldOwner(steps.Manager))
}

// neededCharts returns the names of the ConfigMaps that ClusterReleases and upgrades need. It
// fails if it cannot read one of them.
func (r *Runner) neededCharts(ctx context.Context) (map[string]bool, error) {
	needed := map[string]bool{}
	var releases refitv1alpha1.ClusterReleaseList
	if err := r.client.List(ctx, &releases); err != nil {
		return nil, fmt.Errorf("cannot list ClusterReleases: %w", err)
	}
	for i := range releases.Items {
		release := &releases.Items[i]
		if len(release.Spec.Components) == 0 {
			continue
		}
		opened, err := artifact.Unverified(release.Spec.Envelope)
		if err != nil {
			return nil, fmt.Errorf("cannot read ClusterRelease %s: %w", release.Name, err)
		}
		found, err := artifact.UnverifiedComponents(release.Spec.Components, opened.Digest)
		if err != nil {
			return nil, fmt.Errorf("cannot read ClusterRelease %s: %w", release.Name, err)
		}
		for j := range found.List {
			needed[charts.Name(found.List[j].Chart.Digest)] = true
		}
	}
	var upgrades refitv1alpha1.ComponentUpgradeList
	if err := r.client.List(ctx, &upgrades); err != nil {
		return nil, fmt.Errorf("cannot list ComponentUpgrades: %w", err)
	}
	for i := range upgrades.Items {
		u := &upgrades.Items[i]
		if u.Status.Phase == refitv1alpha1.ComponentSucceeded || u.Status.Phase == refitv1alpha1.ComponentRolledBack {
			continue
		}
		saved, found, err := steps.SavedComponent(ctx, r.client, u)
		if err != nil {
			return nil, fmt.Errorf("cannot read what the upgrade of %s needs: %w", u.Name, err)
		}
		if found {
			needed[charts.Name(saved.Chart.Digest)] = true
		}
	}
	return needed, nil
}
