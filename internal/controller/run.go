package controller

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller/clusterupgrade"
	"github.com/refit-dev/refit/internal/controller/metrics"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/controller/orphan"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/engine/trial"
)

// Namespace is where the controller lives, and its Lease, also while it runs outside the cluster: so only one of all of them leads.
const Namespace = "refit-system"

// Name is that of the Deployment, and of the Lease with which controllers agree on who leads.
const Name = "refit-controller"

// Options are what the controllers are started with.
type Options struct {
	Config *rest.Config
	Log    *slog.Logger
	// Metrics and Health are addresses to listen at; "0" or empty: none.
	Metrics, Health string
	// OnStartedLeading is called each time that these controllers get the lead; may be nil.
	OnStartedLeading func()
}

// Run runs all controllers until the context ends. A controller that loses the lead, as while the only API server of a cluster is swapped, begins anew from
// what is in the cluster: it remembers nothing else.
func Run(ctx context.Context, o Options) error {
	o.Config = rest.CopyConfig(o.Config)
	o.Config.QPS = -1 // the server's own fairness queues decide how fast it answers
	ctrl.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
	if err := serveHealth(ctx, o.Health); err != nil {
		return err
	}
	for first := true; ; first = false {
		manager, err := newLife(o)
		if err != nil && first {
			return err // later it means that the API is away
		}
		if err == nil {
			err = manager.Start(ctx)
		}
		if ctx.Err() == nil {
			o.Log.Warn("the controllers have ended and begin anew", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartDelay):
		}
	}
}

// newLife is one life of the controllers, from an empty memory.
func newLife(o Options) (ctrl.Manager, error) {
	manager, err := newManager(o)
	if err != nil {
		return nil, err
	}
	return manager, setupControllers(manager, o)
}

// restartDelay is between two lives of the controllers.
const restartDelay = time.Second

func newManager(o Options) (ctrl.Manager, error) {
	skip := true
	return ctrl.NewManager(o.Config, ctrl.Options{
		Scheme: scheme(), Logger: logr.FromSlogHandler(o.Log.Handler()),
		Metrics: ctrlmetrics.Options{BindAddress: orNoAddress(o.Metrics)}, HealthProbeBindAddress: noAddress,
		LeaderElection: true, LeaderElectionID: Name, LeaderElectionNamespace: Namespace,
		LeaderElectionReleaseOnCancel: true,                                         // so that the next one need not wait for the Lease to expire
		Controller:                    config.Controller{SkipNameValidation: &skip}, // a life before this one had the same names
		Cache: cache.Options{
			// Five thousand pods that nobody wanted are a bug, not a slow start.
			ReaderFailOnMissingInformer: true,
			DefaultTransform:            observe.Trim,
			SyncPeriod:                  new(time.Duration), // never: what is told again is read again
		},
	})
}

// watched is the list of everything that is kept in memory.
var watched = []client.Object{
	&corev1.Node{}, &refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}, &refitv1alpha1.ClusterRelease{},
}

// setupControllers is the list of everything that runs.
func setupControllers(manager ctrl.Manager, o Options) error {
	live, err := client.New(o.Config, client.Options{Scheme: scheme()})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	reader, err := observe.New(o.Config, observe.Options{})
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	drainer := drain.New(typed, o.Log)
	held, err := observe.Watch(context.Background(), manager.GetCache(), watched...)
	if err != nil {
		return err
	}
	operations := &clusterupgrade.Reconciler{
		Cache: manager.GetCache(), Client: live, World: observe.NewWorld(reader, held), PodsToEvict: drainer.Left,
		Recorder: manager.GetEventRecorder("refit"), Now: time.Now,
	}
	nodes := &nodeupgrade.Reconciler{
		Cache: manager.GetCache(), Client: live, Drainer: drainer, Trials: trial.New(typed), Recorder: manager.GetEventRecorder("refit"), Now: time.Now,
		CountRefusedEvictions: metrics.EvictionsRefused,
	}
	orphans := &orphan.Reconciler{Cache: manager.GetCache(), Client: live, Recorder: manager.GetEventRecorder("refit")}
	for _, c := range []interface{ SetupWithManager(ctrl.Manager) error }{operations, nodes, orphans} {
		if err := c.SetupWithManager(manager); err != nil {
			return err
		}
	}
	if err := metrics.Register(manager.GetCache()); err != nil {
		return err
	}
	if o.OnStartedLeading == nil {
		return nil
	}
	return manager.Add(leading(o.OnStartedLeading))
}

// leading is run as the controllers are: by the one that leads.
func leading(tell func()) ctrlmanager.RunnableFunc {
	return func(context.Context) error {
		tell()
		return nil
	}
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(refitv1alpha1.AddToScheme(s))
	return s
}

// noAddress is no address to listen at, as the manager calls it.
const noAddress = "0"

func orNoAddress(address string) string {
	if address == "" {
		return noAddress
	}
	return address
}
