package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// operations are those of a cluster, and what is at work on its nodes.
type operations struct {
	client.WithWatch

	app     *app
	cluster string // what people call it
	config  *rest.Config
}

// operations reaches a cluster.
func (a *app) operations(ctx context.Context, k *kubeconfig) (*operations, error) {
	config, name, err := k.load()
	if err != nil {
		return nil, err
	}
	if _, err := reach(ctx, config); err != nil {
		return nil, err
	}
	objects, err := a.objects(config)
	if err != nil {
		return nil, err
	}
	return &operations{WithWatch: objects, app: a, cluster: name, config: config}, nil
}

// kinds are those that commands need.
func kinds() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{refitv1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// newClient speaks of them without asking the server first which ones it has: while a control plane changes, one question less can fail.
func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := kinds()
	if err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[schema.GroupVersionKind]meta.RESTScope{
		refitv1alpha1.GroupVersion.WithKind(upgradeKind):    meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("NodeUpgrade"):  meta.RESTScopeRoot,
		refitv1alpha1.GroupVersion.WithKind("NodeReport"):   meta.RESTScopeRoot,
		corev1.SchemeGroupVersion.WithKind("Node"):          meta.RESTScopeRoot,
		appsv1.SchemeGroupVersion.WithKind("Deployment"):    meta.RESTScopeNamespace,
		coordinationv1.SchemeGroupVersion.WithKind("Lease"): meta.RESTScopeNamespace,
	} {
		mapper.Add(kind, scope)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // the server's own fairness queues decide how fast it answers
	return client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
}

// The sizes of pages. A ClusterUpgrade may have 128 KiB, and those that ended stay.
const (
	operationsPerPage = 50
	ordersPerPage     = 500
)

// all are all operations, the oldest first.
func (o *operations) all(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error) {
	var out []refitv1alpha1.ClusterUpgrade
	for token, more := "", true; more; more = token != "" {
		var page refitv1alpha1.ClusterUpgradeList
		if err := o.List(ctx, &page, client.Limit(operationsPerPage), client.Continue(token)); err != nil {
			return nil, o.told("the operations", err)
		}
		out, token = append(out, page.Items...), page.Continue
	}
	slices.SortFunc(out, func(a, b refitv1alpha1.ClusterUpgrade) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// orders are the orders to all nodes.
func (o *operations) orders(ctx context.Context) ([]*refitv1alpha1.NodeUpgrade, error) {
	var out []*refitv1alpha1.NodeUpgrade
	for token, more := "", true; more; more = token != "" {
		var page refitv1alpha1.NodeUpgradeList
		if err := o.List(ctx, &page, client.Limit(ordersPerPage), client.Continue(token)); err != nil {
			return nil, o.told("the work on the nodes", err)
		}
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		token = page.Continue
	}
	return out, nil
}

// progressOf reads how far an operation is.
func (o *operations) progressOf(ctx context.Context, u *refitv1alpha1.ClusterUpgrade) (*cliv1alpha1.Operation, error) {
	orders, err := o.orders(ctx)
	if err != nil {
		return nil, err
	}
	return progress.NewOperation(o.cluster, u, orders, o.app.now()), nil
}

// told says in our words why Refit's objects cannot be read.
func (o *operations) told(what string, err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no Refit in %s: `%s install` brings it", o.cluster, o.app.name)
	}
	return fmt.Errorf("%s cannot be read: %w", what, err)
}

// change changes the spec of an operation. Where the new value stands on the old one it is exact: what another person wrote meanwhile is read again.
func (o *operations) change(ctx context.Context, name string, exact bool, change func(*refitv1alpha1.ClusterUpgradeSpec)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &refitv1alpha1.ClusterUpgrade{}
		if err := o.Get(ctx, client.ObjectKey{Name: name}, now); err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(now.DeepCopy())
		if exact {
			patch = client.MergeFromWithOptions(now.DeepCopy(), client.MergeFromWithOptimisticLock{})
		}
		change(&now.Spec)
		return o.Patch(ctx, now, patch)
	})
}
