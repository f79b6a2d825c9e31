package upgradeschedule

import (
	"context"
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // images without a tz database know every time zone, too

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/schedule"
)

func fromUnstructured(from *unstructured.Unstructured, to any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, to)
}

// observe reads what a decision is made on. Once a start is due, it reads the operations from the
// API itself: the cache may lag behind one that was just created.
func (r *Reconciler) observe(ctx context.Context, s *refitv1alpha1.UpgradeSchedule) (*schedule.Observation, error) {
	obs := &schedule.Observation{Schedule: s, Now: r.Now()}
	obs.Zone, obs.ZoneError = time.LoadLocation(s.Spec.TimeZone)
	snapshot, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	releases, err := r.releases(ctx)
	if err != nil {
		return nil, err
	}
	obs.Target = schedule.Choose(&s.Spec, snapshot, releases, obs.Now)
	if _, due := schedule.Due(obs); !due {
		return obs, nil
	}
	var operations refitv1alpha1.ClusterUpgradeList
	if err := r.Client.List(ctx, &operations); err != nil {
		return nil, fmt.Errorf("cannot list ClusterUpgrades: %w", err)
	}
	obs.Operations = operations.Items
	return obs, nil
}

// snapshot has the nodes with their versions.
func (r *Reconciler) snapshot(ctx context.Context) (*cluster.Snapshot, error) {
	out := &cluster.Snapshot{}
	var nodes corev1.NodeList
	if err := r.Cache.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list Nodes in the cache: %w", err)
	}
	known := false
	for i := range nodes.Items {
		n := observe.Node(&nodes.Items[i])
		if n.ControlPlane {
			report := &refitv1alpha1.NodeReport{}
			if err := r.Cache.Get(ctx, objectKey(n.Name), report); err == nil {
				n.ReportRequest, n.Report = report.Spec.Request, &report.Status
			} else if !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("cannot get NodeReport %s: %w", n.Name, err)
			}
		}
		out.Nodes = append(out.Nodes, n)
		known = known || n.ControlPlane && !out.APIServerVersion(&out.Nodes[len(out.Nodes)-1]).IsZero()
	}
	if known {
		return out, nil
	}
	version, err := r.Version(ctx) // no agent reports the version of its API server
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of the API server: %w", err)
	}
	out.Version = version
	return out, nil
}

// opened are the decoded ClusterReleases by their UIDs: envelopes are large and immutable.
type opened struct {
	mu       sync.Mutex
	releases map[string]cluster.Release
}

func (o *opened) of(release *refitv1alpha1.ClusterRelease) cluster.Release {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := string(release.UID)
	out, is := o.releases[key]
	if !is {
		out = observe.Release(release)
		out.Payload.Files, out.Payload.Images = nil, nil // the version is all that counts
		if o.releases == nil {
			o.releases = map[string]cluster.Release{}
		}
		o.releases[key] = out
	}
	return out
}

// keep forgets the ClusterReleases that do not exist any more.
func (o *opened) keep(uids map[string]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key := range o.releases {
		if !uids[key] {
			delete(o.releases, key)
		}
	}
}

func (r *Reconciler) releases(ctx context.Context) ([]schedule.Release, error) {
	var all refitv1alpha1.ClusterReleaseList
	if err := r.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list ClusterReleases in the cache: %w", err)
	}
	out, uids := make([]schedule.Release, 0, len(all.Items)), map[string]bool{}
	for i := range all.Items {
		release := &all.Items[i]
		uids[string(release.UID)] = true
		out = append(out, schedule.Release{
			Release: r.opened.of(release), Created: release.CreationTimestamp.Time, RejectedBy: release.Status.RejectedHosts,
		})
	}
	r.opened.keep(uids)
	return out, nil
}
