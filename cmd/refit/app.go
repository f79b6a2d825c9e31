package main

import (
	"context"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/cli/bundling"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// app has the dependencies of the commands. Tests replace them.
type app struct {
	terminal.Streams

	name string // what the user types: refit, or kubectl refit
	// observe takes the Snapshot of a cluster, and reports the part that it is reading.
	observe func(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error)
	// preflight runs the checks.
	preflight func(preflight.Input) preflight.Report
	// installer returns a cluster that Refit is installed into, or removed from.
	installer func(config *rest.Config) (installation.Cluster, error)
	// client returns a client for the objects of a cluster.
	client func(config *rest.Config) (client.WithWatch, error)
	// bundleClients returns the clients that collect a support bundle.
	bundleClients bundling.Clients
	// controllers runs the controllers in this process.
	controllers func(context.Context, controller.Options) error
	// changing is true once the command changes something.
	changing bool
}

func newApp(executable string) *app {
	return &app{
		Streams: terminal.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now},
		name:    terminal.NameOf(executable), observe: source.Observe, preflight: preflight.Run, client: operations.NewClient, controllers: controller.Run,
		bundleClients: bundling.NewClients,
		installer:     func(config *rest.Config) (installation.Cluster, error) { return install.New(config) },
	}
}

// connection is the cluster whose operations a command reads or changes.
type connection struct {
	*operations.Cluster
	config *rest.Config
}

func (a *app) connect(ctx context.Context, k *connect.Kubeconfig) (*connection, error) {
	config, name, err := k.Load()
	if err != nil {
		return nil, err
	}
	if _, err := connect.Reach(ctx, config); err != nil {
		return nil, err
	}
	objects, err := a.client(config)
	if err != nil {
		return nil, err
	}
	return &connection{config: config, Cluster: a.operations(objects, name)}, nil
}

func (a *app) operations(objects client.WithWatch, cluster string) *operations.Cluster {
	return &operations.Cluster{
		Client: objects, Name: cluster, Command: a.name, Now: a.Now,
		Controller: client.ObjectKey{Namespace: controller.Namespace, Name: controller.Name},
	}
}
