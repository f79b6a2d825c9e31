package cluster

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	// watchTime is the minimum duration of a watch. Each new watch is a request, and thousands of
	// agents have one each.
	watchTime = 30 * time.Minute
	// firstWait and longestWait limit the backoff while the API is unavailable, with jitter: all
	// agents of a cluster lose it at the same time.
	firstWait   = 500 * time.Millisecond
	longestWait = 15 * time.Second
	waitGrows   = 1.7
	waitJitter  = 1.0
	waitSteps   = 10
)

// Kind is the kind of an object that an agent watches.
type Kind string

// The kinds.
const (
	KindUpgrade Kind = "NodeUpgrade"
	KindReport  Kind = "NodeReport"
)

// Event is the latest state of one of the two objects: exactly one field is set. A slow receiver
// gets fewer events, but always the last one.
type Event struct {
	Upgrade *refitv1alpha1.NodeUpgrade
	Report  *refitv1alpha1.NodeReport
	// Gone is the kind of an object that does not exist.
	Gone Kind
}

// Watch sends the state of this node's two objects and every change, until the context ends. It
// watches them by name, which the API server resolves without scanning all objects.
func (c *Client) Watch(ctx context.Context, events chan<- Event) {
	box := newMailbox()
	var running sync.WaitGroup
	running.Go(func() {
		c.reflect(ctx, KindUpgrade, nodeUpgrades, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeUpgradeList{}, box)
	})
	running.Go(func() {
		c.reflect(ctx, KindReport, nodeReports, &refitv1alpha1.NodeReport{}, &refitv1alpha1.NodeReportList{}, box)
	})
	running.Go(func() { box.deliver(ctx, events) })
	running.Wait()
}

func (c *Client) reflect(ctx context.Context, kind Kind, resource string, object, list runtime.Object, box *mailbox) {
	selector := fields.OneTermEqualSelector("metadata.name", c.nodeName).String()
	log := &outage{what: resource}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			into := list.DeepCopyObject()
			use, err := c.current()
			if err == nil {
				err = c.after(use, use.refit.Get().Resource(resource).VersionedParams(&options, metav1.ParameterCodec).Do(ctx).Into(into))
			}
			return into, log.note(ctx, err)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector, options.Watch = selector, true
			use, err := c.current()
			if err != nil {
				return nil, log.note(ctx, err)
			}
			stream, err := use.refit.Get().Resource(resource).VersionedParams(&options, metav1.ParameterCodec).Watch(ctx)
			return stream, log.note(ctx, c.after(use, err))
		},
	}
	quiet := logr.Discard() // outage logs failures
	cache.NewReflectorWithOptions(source, object, &slot{kind: kind, name: c.nodeName, box: box}, cache.ReflectorOptions{
		Logger: &quiet, Name: "refit-agent", MinWatchTimeout: watchTime,
		Backoff: &wait.Backoff{Duration: firstWait, Cap: longestWait, Factor: waitGrows, Jitter: waitJitter, Steps: waitSteps},
	}).RunWithContext(klog.NewContext(ctx, quiet))
}

// outage logs when a watch fails and when it recovers, but not each retry.
type outage struct {
	what   string
	failed bool
}

func (o *outage) note(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
	case err != nil && !o.failed:
		o.failed = true
		slog.WarnContext(ctx, "cannot watch the API", "resource", o.what, "error", err)
	case err == nil && o.failed:
		o.failed = false
		slog.InfoContext(ctx, "watching the API again", "resource", o.what)
	}
	return err
}
