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
	// watchTime is how long a watch lasts at least. A new one costs a request, and thousands of agents have one each.
	watchTime = 30 * time.Minute
	// firstWait and longestWait are the times between tries while the API is away. All agents of a cluster lose it at the same moment, so they spread out.
	firstWait   = 500 * time.Millisecond
	longestWait = 15 * time.Second
	waitGrows   = 1.7
	waitJitter  = 1.0
	waitSteps   = 10
)

// Kind is one of the two objects that an agent watches.
type Kind string

// The kinds.
const (
	KindUpgrade Kind = "NodeUpgrade"
	KindReport  Kind = "NodeReport"
)

// Event is the newest state of one of the two objects: exactly one of the fields is set. Whoever takes events slowly gets fewer, and always the last one.
type Event struct {
	Upgrade *refitv1alpha1.NodeUpgrade
	Report  *refitv1alpha1.NodeReport
	// Gone is the object that is not there (any more).
	Gone Kind
}

// Watch tells the state of this node's two objects and every change of it, until the context ends. It asks for nothing but these two by their name: the
// API server finds a name without looking at all objects.
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
	quiet := logr.Discard() // what fails is told by outage, in the agent's own log
	cache.NewReflectorWithOptions(source, object, &slot{kind: kind, name: c.nodeName, box: box}, cache.ReflectorOptions{
		Logger: &quiet, Name: "refit-agent", MinWatchTimeout: watchTime,
		Backoff: &wait.Backoff{Duration: firstWait, Cap: longestWait, Factor: waitGrows, Jitter: waitJitter, Steps: waitSteps},
	}).RunWithContext(klog.NewContext(ctx, quiet))
}

// outage logs when the API goes away and when it is back, and not each try in between.
type outage struct {
	what string
	away bool
}

func (o *outage) note(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
	case err != nil && !o.away:
		o.away = true
		slog.WarnContext(ctx, "the API cannot be watched", "resource", o.what, "error", err)
	case err == nil && o.away:
		o.away = false
		slog.InfoContext(ctx, "the API can be watched again", "resource", o.what)
	}
	return err
}
