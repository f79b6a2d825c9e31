package agents

import (
	"context"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Load creates a simulated cluster on a server that has Refit's CRDs: nodes, pods, budgets, the
// objects of kubeadm, and a ClusterRelease of each of these versions. The hosts add the pods of the
// control plane and the reports.
func Load(ctx context.Context, config *rest.Config, s *cluster.Snapshot, releases ...string) error {
	config = rest.CopyConfig(config)
	config.QPS = -1
	writes, err := client.New(config, client.Options{Scheme: scheme()})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	l := &loader{writes}
	for _, objects := range []iter.Seq[runtime.Object]{Objects(s), Contents(s), others(s)} {
		if err := l.load(ctx, objects); err != nil {
			return err
		}
	}
	for _, version := range releases {
		release, err := Release(version)
		if err != nil {
			return err
		}
		if err := l.create(ctx, release); err != nil {
			return err
		}
	}
	return nil
}

type loader struct{ client client.Client }

// load creates objects, many at a time. It skips those that the hosts' kubelets create.
func (l *loader) load(ctx context.Context, objects iter.Seq[runtime.Object]) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for object := range objects {
		made, is := object.(client.Object)
		if !is || made.GetAnnotations()[corev1.MirrorPodAnnotationKey] != "" {
			continue
		}
		group.Go(func() error { return l.create(ctx, made) })
		if ctx.Err() != nil {
			break
		}
	}
	return group.Wait()
}

// create creates an object and then writes its status, which the server drops from most new
// objects.
func (l *loader) create(ctx context.Context, object client.Object) error {
	wanted, is := object.DeepCopyObject().(client.Object)
	err := l.client.Create(ctx, object)
	if _, namespace := object.(*corev1.Namespace); namespace && apierrors.IsAlreadyExists(err) {
		return nil // nothing deletes namespaces here, so it still exists
	}
	if err != nil {
		return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
	}
	if !is || !dropsStatus(wanted) {
		return nil
	}
	wanted.SetResourceVersion(object.GetResourceVersion())
	wanted.SetUID(object.GetUID())
	if err := l.client.Status().Update(ctx, wanted); err != nil {
		return fmt.Errorf("writing the status of %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
