package components

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Options configure the component agent.
type Options struct {
	// Keys is the directory of the public keys that sign ClusterReleases.
	Keys string
	// Lease returns a context that ends with the lease of the leader.
	Lease func(context.Context) context.Context
	Log   *slog.Logger
	// Limit returns the limit of a step; nil for its own one.
	Limit func(component.Step) time.Duration
}

// Setup returns a function that adds the component agent to a manager.
func Setup(o Options) func(ctrl.Manager, ctrlcontroller.Options) error {
	return func(manager ctrl.Manager, options ctrlcontroller.Options) error {
		w := &worker{options: o, manager: manager}
		w.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](minDelay, maxDelay))
		if err := manager.Add(w); err != nil {
			return err
		}
		return setupOffers(manager, options, o)
	}
}

// The delays after an error that a step does not handle, such as an API server that is down.
const (
	minDelay = time.Second
	maxDelay = 30 * time.Second
)

// worker executes the orders, one component at a time. It is no reconciler, because a step can take
// longer than a reconcile may.
type worker struct {
	options Options
	manager ctrl.Manager
	queue   workqueue.TypedRateLimitingInterface[string]
}

// Start executes orders until the context ends. The manager calls it once it leads.
func (w *worker) Start(ctx context.Context) error {
	r, err := NewRunner(ctx, w.manager.GetConfig(), w.options)
	if err != nil {
		return err
	}
	informer, err := w.manager.GetCache().GetInformer(ctx, &refitv1alpha1.ComponentUpgrade{})
	if err != nil {
		return fmt.Errorf("cannot watch ComponentUpgrades: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    w.add,
		UpdateFunc: func(_, object any) { w.add(object) },
		DeleteFunc: w.add,
	})
	if err != nil {
		return fmt.Errorf("cannot watch ComponentUpgrades: %w", err)
	}
	context.AfterFunc(ctx, w.queue.ShutDown)
	if err := w.addFrozen(ctx, r); err != nil {
		return err
	}
	go wait.UntilWithContext(ctx, r.collectCharts, chartInterval)
	for w.next(ctx, r) {
	}
	return nil
}

// add queues an object.
func (w *worker) add(object any) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if u, ok := object.(*refitv1alpha1.ComponentUpgrade); ok {
		w.queue.Add(u.Name)
	}
}

// addFrozen queues all frozen components: the journal of one may have been deleted while no process
// ran.
func (w *worker) addFrozen(ctx context.Context, r *Runner) error {
	frozen, err := steps.FreezerOf(r.client, r.username).Frozen(ctx)
	for _, name := range frozen {
		w.queue.Add(name)
	}
	return err
}

func (w *worker) next(ctx context.Context, r *Runner) bool {
	name, ended := w.queue.Get()
	if ended {
		return false
	}
	defer w.queue.Done(name)
	// A process that was paused may have lost its Lease only until it has renewed it: the context
	// ends if another process leads.
	if err := r.Run(ctx, name); err != nil && ctx.Err() == nil {
		r.log.ErrorContext(ctx, "Cannot execute the order, repeating it", "component", name, "error", err)
		w.queue.AddRateLimited(name)
		return true
	}
	w.queue.Forget(name)
	return true
}

// NewRunner returns a runner whose requests end with the lease.
func NewRunner(ctx context.Context, config *rest.Config, o Options) (*Runner, error) {
	lease := o.Lease(ctx)
	fenced := helm.Fenced(lease, config)
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(fenced, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	var self authenticationv1.SelfSubjectReview
	if err := c.Create(ctx, &self); err != nil {
		return nil, fmt.Errorf("cannot read the user name of this process: %w", err)
	}
	return &Runner{
		config: fenced, lease: lease, client: c, source: &source{reader: c, keys: o.Keys}, username: self.Status.UserInfo.Username,
		log: o.Log, now: time.Now, limit: limitOf(o),
	}, nil
}

func limitOf(o Options) func(component.Step) time.Duration {
	if o.Limit != nil {
		return o.Limit
	}
	return func(step component.Step) time.Duration { return step.Limit }
}

// discoveryOf returns a discovery client without a cache.
func discoveryOf(config *rest.Config) (discovery.DiscoveryInterface, error) {
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	return d, nil
}

// Namespace is where refit-components and its Lease are.
const Namespace = offer.Namespace

// Name is the name of the Deployment, and of the Lease for leader election.
const Name = "refit-components"
