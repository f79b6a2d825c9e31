package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller/clusterrelease"
	"github.com/refit-dev/refit/internal/controller/clusterupgrade"
	"github.com/refit-dev/refit/internal/controller/metrics"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/controller/orphan"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/engine/trial"
)

// noAddress makes the manager listen nowhere.
const noAddress = "0"

// cached is everything that informers keep in memory.
var cached = []client.Object{
	&corev1.Node{}, &refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}, &refitv1alpha1.ClusterRelease{},
}

// newManager makes a manager with all controllers.
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

// reconciler is what every controller of Refit has.
type reconciler interface {
	SetupWithManager(manager ctrl.Manager, options ctrlcontroller.Options) error
}

// setupControllers is the list of everything that runs.
func setupControllers(manager ctrl.Manager, o Options, alive *liveness) error {
	direct, err := client.New(o.Config, client.Options{Scheme: scheme()})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	typed, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	reader, err := observe.New(o.Config, observe.Options{})
	if err != nil {
		return err
	}
	held, err := observe.Watch(context.Background(), manager.GetCache(), cached...)
	if err != nil {
		return err
	}
	drainer, recorder := drain.New(typed, o.Log), manager.GetEventRecorder("refit")
	options := ctrlcontroller.Options{NewQueue: alive.newQueue(manager.GetLogger())}
	for _, r := range []reconciler{
		&clusterupgrade.Reconciler{
			Cache: manager.GetCache(), Client: direct, World: observe.NewWorld(reader, held), PodsToEvict: drainer.Remaining,
			Recorder: recorder, Now: time.Now,
		},
		&nodeupgrade.Reconciler{
			Cache: manager.GetCache(), Client: direct, Drainer: drainer, Trials: trial.New(typed), Recorder: recorder, Now: time.Now,
			CountRefusedEvictions: metrics.EvictionsRefused,
		},
		&orphan.Reconciler{Cache: manager.GetCache(), Client: direct, Recorder: recorder},
		&clusterrelease.Reconciler{Cache: manager.GetCache(), Client: direct, Now: time.Now},
	} {
		if err := r.SetupWithManager(manager, options); err != nil {
			return fmt.Errorf("cannot set up a controller: %w", err)
		}
	}
	if err := metrics.Register(manager.GetCache()); err != nil {
		return err
	}
	return manager.Add(onStartedLeading(o.OnStartedLeading))
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
