package components

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

var (
	patchVersion = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+`)
	fullVersion  = regexp.MustCompile(`^v1\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$`) // as the API requires
)

// view is what all offers of a component share.
type view struct {
	component *refitv1alpha1.Component
	cluster   offer.Cluster
	current   string // version of Kubernetes
	user      map[string]any
	userError *offer.Problem
	answers   *form.Stored // to the form of a ClusterRelease, nil until they are needed
	key       []byte       // of digests, if values come from Secrets
	release   offer.Input  // of the installed Helm release
	status    refitv1alpha1.ComponentStatus
	installed []component.Installed // of all components
	plan      []refitv1alpha1.PlannedComponent
}

func (r *Reconciler) view(ctx context.Context, c *refitv1alpha1.Component) (*view, error) {
	v := &view{component: c}
	discover, err := discoveryOf(r.config)
	if err != nil {
		return nil, err
	}
	if v.current, err = clusterVersion(discover); err != nil {
		return nil, err
	}
	v.current = patchVersion.FindString(v.current)
	judge, err := crd.NewActor(r.config, steps.Manager)
	if err != nil {
		return nil, err
	}
	fresh, err := client.New(r.config, client.Options{}) // CRDs may have changed
	if err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	v.cluster = offer.Cluster{Reader: fresh, CRDs: &judgeOnce{judge: judge, reports: map[string]*crd.Report{}}}
	v.user, _, err = offer.UserValues(ctx, r.client, &c.Spec)
	switch {
	case errors.Is(err, offer.ErrValuesMissing):
		problem := offer.NewProblem("ValuesMissing", "%v", err)
		v.userError = &problem
	case err != nil && !steps.Transient(err):
		problem := offer.NewProblem("ValuesInvalid", "%v", err)
		v.userError = &problem
	case err != nil:
		return nil, err
	}
	if len(c.Spec.ValuesFrom) > 0 {
		if v.key, err = offer.EnsureDigestKey(ctx, fresh); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// judgeOnce judges each definition once: most offers of a component have the same CRDs, and a
// cluster can have many objects.
type judgeOnce struct {
	judge   offer.Judge
	reports map[string]*crd.Report
}

func (j *judgeOnce) Definitions(ctx context.Context, names ...string) (map[string]*crd.Definition, error) {
	return j.judge.Definitions(ctx, names...)
}

func (j *judgeOnce) Judge(ctx context.Context, definition *crd.Definition) (*crd.Report, error) {
	key, err := json.Marshal(definition)
	if err != nil {
		return nil, fmt.Errorf("cannot compare the CRD %s: %w", definition.Name, err)
	}
	if known := j.reports[string(key)]; known != nil {
		return known, nil
	}
	report, err := j.judge.Judge(ctx, definition)
	if err == nil {
		j.reports[string(key)] = report
	}
	return report, err
}

// readInstalled reads the Helm release of a component.
func (r *Reconciler) readInstalled(ctx context.Context, v *view, signed refitv1alpha1.ReleaseComponent, status *refitv1alpha1.ComponentStatus) error {
	v.release = offer.Input{Component: signed, User: v.user}
	discover, err := discoveryOf(r.config)
	if err != nil {
		return err
	}
	if v.release.Capabilities, err = offer.CapabilitiesOf(discover, v.current); err != nil {
		return err
	}
	if archive, err := r.source.chart(ctx, signed.Chart); err == nil {
		v.release.Archive = archive
	}
	release := helm.New(ctx, r.config, helm.Release(signed.Release), r.log.Handler())
	if err := offer.ReadRelease(ctx, v.cluster.Reader, release, &v.release); err != nil {
		return err
	}
	status.Owner = cmp.Or(v.release.Owner, refitv1alpha1.OwnerNone)
	if d := v.release.Deployed; d != nil {
		status.Installed = &refitv1alpha1.InstalledComponent{
			Version: v.release.From, Namespace: signed.Release.Namespace, Name: signed.Release.Name,
			Revision: int64(d.Revision), Pending: v.release.Pending != "",
		}
	}
	return nil
}

// readAll reads what is installed of all components, from the status of each Component and from
// what was read for this one, and the plans of operations that have not ended. It reports whether
// all of them are known, or will not be soon.
func (v *view) readAll(ctx context.Context, reader client.Reader) (complete bool, err error) {
	var list refitv1alpha1.ComponentList
	if err := reader.List(ctx, &list); err != nil {
		return false, fmt.Errorf("cannot list Components: %w", err)
	}
	complete = true
	for i := range list.Items {
		status := &list.Items[i].Status
		if list.Items[i].Name == v.component.Name {
			status = &v.status
		} else if status.ObservedGeneration == 0 && !meta.IsStatusConditionTrue(status.Conditions, refitv1alpha1.ConditionStalled) {
			complete = false
		}
		if status.Installed != nil {
			v.installed = append(v.installed, component.Installed{
				Name: list.Items[i].Name, Version: status.Installed.Version, ByRefit: status.Owner == refitv1alpha1.OwnerRefit,
			})
		}
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := reader.List(ctx, &operations); err != nil {
		return false, fmt.Errorf("cannot list ClusterUpgrades: %w", err)
	}
	for i := range operations.Items {
		if o := &operations.Items[i]; !o.HasEnded() && o.Status.Plan != nil {
			v.plan = append(v.plan, o.Status.Plan.Components...)
		}
	}
	return complete, nil
}
