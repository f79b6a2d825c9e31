package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
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
	lock, err := lockOf(o)
	if err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme: scheme(), Logger: logr.FromSlogHandler(o.Log.Handler()),
		Metrics: ctrlmetrics.Options{BindAddress: orNoAddress(o.Metrics)}, HealthProbeBindAddress: noAddress,
		LeaderElection: true, LeaderElectionID: cmp.Or(o.LeaseName, Name), LeaderElectionNamespace: cmp.Or(o.LeaseNamespace, Namespace),
		LeaderElectionResourceLockInterface: lock, RenewDeadline: new(renewDeadline),
		LeaderElectionReleaseOnCancel: true, // so that the next leader need not wait for the Lease to expire
		Controller: config.Controller{
			SkipNameValidation:    &skip, // a former manager of this process used the same names
			ReconciliationTimeout: reconcileTimeout,
		},
		NewClient: direct,
		Cache: cache.Options{
			// A cache of all pods by mistake is a bug, not a slow start.
			ReaderFailOnMissingInformer: true,
			ByObject:                    o.Cached,
			DefaultTransform:            observe.Trim,
			SyncPeriod:                  new(time.Duration), // no resync: reconcilers requeue
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a manager: %w", err)
	}
	return manager, setupControllers(manager, o, alive)
}

// lockOf returns the lock of leader election that records renewals, nil for the default one.
func lockOf(o Options) (resourcelock.Interface, error) {
	if o.Lease == nil {
		return nil, nil
	}
	return o.Lease.lock(o.Config, cmp.Or(o.LeaseNamespace, Namespace), cmp.Or(o.LeaseName, Name))
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
