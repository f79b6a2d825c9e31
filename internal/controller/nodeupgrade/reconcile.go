package nodeupgrade

import (
	"context"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
)

// Controller empties nodes.
type Controller struct {
	Live    client.Client
	Drainer *drain.Drainer
	Now     func() time.Time

	mu      sync.Mutex
	drains  map[string]*draining
	running sync.WaitGroup
}

// draining is a drain under way.
type draining struct {
	job    job
	cancel context.CancelFunc
}

// job is what is being drained, and how.
type job struct {
	node      string
	sequence  int64
	operation string
	delete    bool
}

// SetUp lets a manager run the controller. Drains end when the manager does.
func (c *Controller) SetUp(manager ctrl.Manager) error {
	if err := manager.Add(c); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).For(&refitv1alpha1.NodeUpgrade{}).WithOptions(controller.Options{MaxConcurrentReconciles: 8}).Complete(c)
}

// Start keeps the drains alive until the context ends.
func (c *Controller) Start(ctx context.Context) error {
	<-ctx.Done()
	c.mu.Lock()
	for _, d := range c.drains {
		d.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
	return nil
}

// Reconcile begins or ends the drain of one node.
func (c *Controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := c.Live.Get(ctx, request.NamespacedName, u); err != nil {
		c.stop(request.Name)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	wanted, ok := jobOf(u)
	if !ok {
		c.stop(u.Name)
		return reconcile.Result{}, nil
	}
	c.ensure(ctx, wanted)
	return reconcile.Result{}, nil
}

// jobOf is the drain that an order asks for, if it does.
func jobOf(u *refitv1alpha1.NodeUpgrade) (job, bool) {
	d := u.Status.Drain
	if d == nil || d.Sequence != u.Spec.Sequence || (d.Phase != refitv1alpha1.DrainDraining && d.Phase != refitv1alpha1.DrainBlocked) {
		return job{}, false
	}
	return job{node: u.Name, sequence: d.Sequence, operation: u.Spec.Operation.Name, delete: d.Delete}, true
}

// stop ends the drain of a node, if there is one.
func (c *Controller) stop(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.drains[node]; d != nil {
		d.cancel()
		delete(c.drains, node)
	}
}

// ensure sees to it that this drain is under way, and no other one of the node.
func (c *Controller) ensure(ctx context.Context, wanted job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.drains[wanted.node]; d != nil {
		if d.job == wanted {
			return
		}
		d.cancel()
	}
	if c.drains == nil {
		c.drains = map[string]*draining{}
	}
	// Not the request's context, which ends with it; Start cancels.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d := &draining{wanted, cancel}
	c.drains[wanted.node] = d
	c.running.Go(func() {
		defer cancel()
		c.drain(ctx, wanted)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.drains[wanted.node] == d {
			delete(c.drains, wanted.node)
		}
	})
}
