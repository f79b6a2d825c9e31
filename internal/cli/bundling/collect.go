package bundling

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// Clients returns the clients of a cluster.
type Clients func(*rest.Config) (kubernetes.Interface, dynamic.Interface, error)

// NewClients returns clients that are fast enough to poll several Pods.
func NewClients(config *rest.Config) (kubernetes.Interface, dynamic.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 100
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	return typed, objects, nil
}

// Progress reports what is being collected.
type Progress interface {
	Part(what string)
	End()
}

// Bundler collects a support bundle.
type Bundler struct {
	Version string
	Now     func() time.Time
	Clients Clients
	// Local is this machine, which is read if the API server is unreachable.
	Local    *host.Reader
	Progress func(cluster string, verbose bool) Progress
}

// Collect creates the file of a bundle and returns its index. It may return both an index and an
// error: the timeout has ended the collection.
func (b *Bundler) Collect(ctx context.Context, k *connect.Kubeconfig, f *Flags, o engine.Options) (*cliv1alpha1.SupportBundle, error) {
	collector, err := b.collector(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := collector.FindOperation(ctx, o.Operation); err != nil {
		return nil, err
	}
	started := b.Now()
	file := cmp.Or(f.File, supportbundle.Root(cmp.Or(collector.Cluster, collector.LocalName), started)+".tar.gz")
	index, err := b.write(ctx, collector, f.Verbose, o, file)
	if err != nil {
		return nil, err
	}
	index.File = file
	if info, err := os.Stat(file); err == nil {
		index.FileBytes = info.Size()
	}
	if b.Now().Sub(started) >= o.Limits.Timeout {
		return index, exit.TimeoutError{Err: fmt.Errorf("the bundle is not complete: --timeout %s has ended the collection", o.Limits.Timeout)}
	}
	return index, nil
}

func (b *Bundler) write(ctx context.Context, c *engine.Collector, verbose bool, o engine.Options, file string) (index *cliv1alpha1.SupportBundle, err error) {
	progress := b.Progress(cmp.Or(c.Cluster, c.LocalName), verbose)
	defer progress.End()
	err = archive.File(file, func(to io.Writer) error {
		index, err = c.Collect(ctx, o, func(p engine.Progress) {
			if p.Part == nil {
				progress.Part(p.String())
			}
		}, to)
		return err
	})
	return index, err
}

// collector returns the collector of the cluster. Without a kubeconfig, it is one of this machine.
func (b *Bundler) collector(ctx context.Context, k *connect.Kubeconfig) (*engine.Collector, error) {
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("cannot get the name of this machine: %w", err)
	}
	c := &engine.Collector{Version: b.Version, Now: b.Now, Local: b.Local, LocalName: name}
	config, cluster, err := k.Load()
	switch {
	case err != nil && k.Given() == "" && b.Local.Available():
		return c, nil
	case err != nil:
		return nil, err
	}
	c.Cluster = cluster
	if c.Typed, c.Dynamic, err = b.Clients(config); err != nil {
		return nil, err
	}
	// Pods of earlier runs are found by their age. Without a response, there are none to delete.
	if now, err := connect.Clock(ctx, config, b.Now); err == nil {
		c.Now = now
	}
	return c, nil
}
