package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// Collector collects support bundles.
type Collector struct {
	// Typed and Dynamic are clients with the permissions of the caller.
	Typed   kubernetes.Interface
	Dynamic dynamic.Interface
	// Local reads this machine if the API server is unreachable; nil: it is no host.
	Local     *host.Reader
	LocalName string
	Cluster   string // the caller's name for it
	Version   string
	Now       func() time.Time
}

// Options select what is collected.
type Options struct {
	// Operation is the name of a ClusterUpgrade; empty: the one in progress, or the last one.
	Operation string
	// Nodes are those whose hosts are collected; empty: the most important ones.
	Nodes []string
	// Period is the time before now; zero: that of the operation.
	Period time.Duration
	Limits supportbundle.Limits
	// Patterns are redacted beside everything else.
	Patterns []*regexp.Regexp
}

// Progress is what is being done, or a part that was added.
type Progress struct {
	Node     string // empty: nothing about one node
	Activity string // such as "waits for the Pod to start: ContainerCreating"
	// Part is a part that was added, or is missing; nil: something is being done.
	Part *cliv1alpha1.BundlePart
}

// String is what is being done, in one line.
func (p Progress) String() string {
	if p.Node == "" {
		return p.Activity
	}
	return p.Node + " " + p.Activity
}

// Collect writes the archive of a bundle, and returns its index. It reports from several
// goroutines, but never at the same time. If nothing could be collected, the error is
// supportbundle.ErrEmpty.
func (c *Collector) Collect(ctx context.Context, o Options, report func(Progress), to io.Writer) (*cliv1alpha1.SupportBundle, error) {
	started := c.Now()
	limited, cancel := context.WithTimeout(ctx, o.Limits.Timeout)
	defer cancel()
	r := &run{
		Collector: c, Options: o, redact: redact.New(o.Patterns...), report: oneAtATime(report),
		index: &cliv1alpha1.SupportBundle{
			APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindSupportBundle, Cluster: c.Cluster, Version: c.Version, Time: started.UTC(),
		},
	}
	r.findOperation(limited)
	about := ""
	if r.operation != nil {
		r.index.Operation = r.operation.Name
		about = r.operation.Name
	}
	r.window = supportbundle.WindowOf(r.operation, o.Period, started)
	r.index.Since, r.index.Until = r.window.Since, r.window.Until
	r.archive = archive.New(to, r.index, about, o.Limits.Total)
	if err := r.collect(limited); err != nil {
		return r.index, err
	}
	if ctx.Err() != nil { // a timeout ends parts, an interruption the command
		return r.index, context.Cause(ctx)
	}
	r.index.Seconds = int64(c.Now().Sub(started).Seconds())
	return r.index, errors.Join(r.archive.Close(), supportbundle.CheckNotEmpty(r.index))
}

// run is one collection.
type run struct {
	*Collector
	Options

	redact    *redact.Redactor
	report    func(Progress)
	index     *cliv1alpha1.SupportBundle
	operation *refitv1alpha1.ClusterUpgrade // nil: none
	window    supportbundle.Window
	archive   *archive.Writer
	clock     serverClock
}

// collect adds all parts. An error is that of the archive.
func (r *run) collect(ctx context.Context) error {
	if r.index.APIUnreachable != nil {
		return r.local(ctx)
	}
	for _, collect := range []func(context.Context) error{r.objects, r.events, r.logs, r.hosts} {
		if err := collect(ctx); err != nil {
			return err
		}
	}
	return nil
}

// add adds a part.
func (r *run) add(p archive.Part) error {
	err := r.archive.Add(p)
	added := r.index.Parts[len(r.index.Parts)-1]
	r.report(Progress{Node: added.Node, Part: &added})
	return err
}

// fail adds a part that is missing.
func (r *run) fail(source, node string, err error) error {
	return r.add(archive.Part{BundlePart: cliv1alpha1.BundlePart{Source: source, Node: node, Error: r.classify(err)}})
}

// local adds what this machine has.
func (r *run) local(ctx context.Context) error {
	if r.Local == nil || !r.Local.Available() {
		return nil
	}
	name := r.LocalName
	r.report(Progress{Node: name, Activity: "the API server is unreachable: reads this host only"})
	parts := r.Local.Read(ctx, host.Options{
		Window: r.window, Limit: r.Limits.Host, Redact: r.redact,
		Report: func(activity string) { r.report(Progress{Node: name, Activity: "reads the " + activity}) },
	})
	for _, p := range parts {
		p.Node, p.Path = name, supportbundle.HostPath(name, p.Path)
		if err := r.add(p); err != nil {
			return err
		}
	}
	return nil
}

func oneAtATime(report func(Progress)) func(Progress) {
	lock := make(chan struct{}, 1)
	return func(p Progress) {
		lock <- struct{}{}
		defer func() { <-lock }()
		report(p)
	}
}

// size formats a size for progress.
func size(n int) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
