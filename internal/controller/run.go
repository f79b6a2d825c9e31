package controller

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Namespace is where the controller and its Lease are, even if the controller runs outside the
// cluster: so there is one leader among all of them.
const Namespace = cluster.ControllerNamespace

// Name is the name of the Deployment, and of the Lease for leader election.
const Name = cluster.ControllerName

// Setup makes a controller for the cluster of a manager, and adds it to the manager.
type Setup func(manager ctrl.Manager, options ctrlcontroller.Options) error

// Options configure the controllers.
type Options struct {
	Config *rest.Config
	Log    *slog.Logger
	// Controllers are all controllers to run. Each manager sets them up once.
	Controllers []Setup
	// Metrics and Health are addresses to listen at; "0" or empty: none.
	Metrics, Health string
	// LeaseNamespace and LeaseName are those of the Lease for leader election; Namespace and Name
	// if empty.
	LeaseNamespace, LeaseName string
	// Lease is kept current while these controllers lead; may be nil.
	Lease *Lease
	// Cached restricts which objects of a kind are cached.
	Cached map[client.Object]cache.ByObject
	// OnStartedLeading is called each time that these controllers become the leader; may be nil.
	OnStartedLeading func()
}

// restartDelay is the time between the end of a manager and the start of the next one.
const restartDelay = time.Second

// Run runs the controllers until the context ends. Controllers that lose leadership, as while the
// only API server of a cluster restarts, are replaced by new ones that start from the objects in
// the cluster: they keep no other state.
func Run(ctx context.Context, o Options) error {
	o.Config = rest.CopyConfig(o.Config)
	o.Config.QPS = -1 // API priority and fairness limits the rate
	ctrl.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
	alive := &liveness{}
	if err := serveHealth(ctx, o.Health, healthHandler(alive.check, o.Log)); err != nil {
		return err
	}
	for first := true; ; first = false {
		manager, err := newManager(o, alive)
		if err != nil && first {
			return err // later it means that the API server is unreachable
		}
		if err == nil {
			err = manager.Start(ctx)
		}
		if ctx.Err() == nil {
			o.Log.WarnContext(ctx, "Controllers stopped, restarting", "error", err, "restartAfter", restartDelay)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartDelay):
		}
	}
}
