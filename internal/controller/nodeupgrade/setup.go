package nodeupgrade

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/engine/trial"
)

// Setup makes the controller and adds it to a manager.
func Setup(manager ctrl.Manager, options controller.Options) error {
	typed, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	if err := registerMetrics(); err != nil {
		return fmt.Errorf("cannot register metrics: %w", err)
	}
	r := &Reconciler{
		Cache: manager.GetCache(), Client: manager.GetClient(), Recorder: manager.GetEventRecorder("refit"), Now: time.Now,
		Drainer: drain.New(typed, slog.New(logr.ToSlogHandler(manager.GetLogger()))), Trials: trial.New(typed),
		CountRefusedEvictions: countRefusedEvictions,
	}
	return r.SetupWithManager(manager, options)
}

// SetupWithManager adds the controller to a manager. Jobs end when the manager stops.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	options.MaxConcurrentReconciles = 8
	if err := manager.Add(r); err != nil {
		return err
	}
	r.ended = make(chan event.GenericEvent)
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.NodeUpgrade{}, builder.WithPredicates(predicate.NewPredicateFuncs(r.concerns))).
		WatchesRawSource(source.Channel(r.ended, &handler.EnqueueRequestForObject{})).
		WithOptions(options).
		Complete(r)
}

// concerns reports whether there is a job to start or to cancel on a node. Most of what 5,000
// agents report requires neither.
func (r *Reconciler) concerns(object client.Object) bool {
	u, is := object.(*refitv1alpha1.NodeUpgrade)
	if !is {
		return false
	}
	_, drains := drainOf(u)
	_, tries := trialOf(u)
	return drains || tries || r.drains.has(u.Name) || r.trials.has(u.Name)
}

// Start removes what a former leader left behind, and ends all jobs when the context ends.
func (r *Reconciler) Start(ctx context.Context) error {
	r.removeLeftoverTrials(ctx)
	<-ctx.Done()
	r.shutDown()
	return nil
}

func (r *Reconciler) shutDown() {
	r.drains.shutDown()
	r.trials.shutDown()
}
