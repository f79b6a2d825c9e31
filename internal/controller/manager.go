package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
)

// noAddress makes the manager listen nowhere.
const noAddress = "0"

// newManager makes a manager with the controllers of the options.
func newManager(o Options, alive *liveness) (ctrl.Manager, error) {
	skip := true
	manager, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme: scheme(), Logger: logr.FromSlogHandler(o.Log.Handler()),
		Metrics: ctrlmetrics.Options{BindAddress: orNoAddress(o.Metrics)}, HealthProbeBindAddress: noAddress,
		LeaderElection: true, LeaderElectionID: Name, LeaderElectionNamespace: Namespace,
		LeaderElectionReleaseOnCancel: true, // so that the next leader need not wait for the Lease to expire
		Controller: config.Controller{
			SkipNameValidation:    &skip, // a former manager of this process used the same names
			ReconciliationTimeout: reconcileTimeout,
		},
		NewClient: direct,
		Cache: cache.Options{
			// A cache of all pods by mistake is a bug, not a slow start.
			ReaderFailOnMissingInformer: true,
			DefaultTransform:            observe.Trim,
			SyncPeriod:                  new(time.Duration), // no resync: reconcilers requeue
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a manager: %w", err)
	}
	return manager, setupControllers(manager, o, alive)
}

// setupControllers adds the controllers, whose queues the health endpoint checks.
func setupControllers(manager ctrl.Manager, o Options, alive *liveness) error {
	options := ctrlcontroller.Options{NewQueue: alive.newQueue(manager.GetLogger())}
	for _, setup := range o.Controllers {
		if err := setup(manager, options); err != nil {
			return fmt.Errorf("cannot set up a controller: %w", err)
		}
	}
	return manager.Add(onStartedLeading(o.OnStartedLeading))
}

// direct makes a client that reads from the API server. Controllers read from informers only
// through the manager's cache, so that each read shows which of the two it is.
func direct(config *rest.Config, options client.Options) (client.Client, error) {
	options.Cache = nil
	return client.New(config, options)
}

// onStartedLeading calls a function when the controllers start: the manager starts both once it
// leads.
func onStartedLeading(call func()) ctrlmanager.RunnableFunc {
	return func(context.Context) error {
		if call != nil {
			call()
		}
		return nil
	}
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(refitv1alpha1.AddToScheme(s))
	return s
}

func orNoAddress(address string) string {
	if address == "" {
		return noAddress
	}
	return address
}
