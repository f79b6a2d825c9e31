package traces

import (
	"context"
	"fmt"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/engine/otlp"
)

// service is the name of the service in the traces, unless the environment has another one.
const service = "refit-controller"

// Setup adds the export of traces to a manager, if the environment has a collector. Settings that
// cannot work are logged: an upgrade does not depend on its traces.
func Setup(manager ctrl.Manager, _ controller.Options) error {
	if err := registerMetrics(); err != nil {
		return fmt.Errorf("cannot register metrics: %w", err)
	}
	if otlp.Endpoint() == "" {
		return nil
	}
	log := manager.GetLogger().WithName("traces")
	exporter, err := otlp.New(context.Background(), service)
	if err != nil {
		log.Error(err, "Traces are not exported")
		return nil
	}
	kinds := []client.Object{&refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}}
	served, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), &refitv1alpha1.EtcdBackup{})
	if err != nil {
		return err
	}
	if served {
		kinds = append(kinds, &refitv1alpha1.EtcdBackup{})
	}
	s := newSender(exporter.Export, log)
	return manager.Add(&runner{
		cache: manager.GetCache(), kinds: kinds, sender: s,
		recorder: newRecorder(manager.GetCache(), s.offer, time.Now),
	})
}

// runner runs on the leader.
type runner struct {
	cache    cache.Informers
	kinds    []client.Object
	recorder *recorder
	sender   *sender
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (r *runner) NeedLeaderElection() bool { return true }

// Start exports until the context ends. The informers pass the objects that exist first, so that
// nothing is missing after a change of the leader.
func (r *runner) Start(ctx context.Context) error {
	for _, kind := range r.kinds {
		if err := r.watch(ctx, kind); err != nil {
			return fmt.Errorf("cannot watch objects for traces: %w", err)
		}
	}
	r.sender.run(ctx)
	return nil
}

// watch passes the objects of a kind to the recorder. The informers end with the manager, as the
// leader does.
func (r *runner) watch(ctx context.Context, kind client.Object) error {
	informer, err := r.cache.GetInformer(ctx, kind)
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.recorder.changed(ctx, nil, object) },
		UpdateFunc: func(was, now any) { r.recorder.changed(ctx, was, now) },
		DeleteFunc: func(object any) { r.recorder.deleted(ctx, object) },
	})
	return err
}
