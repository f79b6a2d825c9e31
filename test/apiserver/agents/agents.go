package agents

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// writers is how many objects are written at once.
const writers = 64

// Options say how the hosts behave. The zero value is hosts that do everything at once.
type Options struct {
	// Fetch is how long a host takes to fetch a ClusterRelease, Step how long each step of a
	// change takes, End how long a pod takes to end. Each time it is up to a half more or less:
	// hosts that are equally quick would all be done at the same moment, again and again.
	Fetch, Step, End time.Duration
	// Meet is called as a step begins on a node, with a name as `refit-agent steps` prints it. It may hold the step up until the context ends, as a host does
	// that hangs. An error fails the step.
	Meet func(ctx context.Context, node, step string) error
	// Tell is called before a node's facts are told, and may change them, as a host does that is not well.
	Tell func(node string, facts *refitv1alpha1.NodeReportStatus)
}

// Agents are the hosts of a cluster.
type Agents struct {
	options   Options
	client    client.Client
	cache     cache.Cache
	authority *authority
	slots     chan struct{} // of writers

	mu       sync.Mutex
	releases map[string]string // the versions that ClusterReleases bring, by name
	ctx      context.Context   //nolint:containedctx // that of Run; what a watch tells begins work that ends with it
	hosts    map[string]*host
	names    []string // of hosts that there ever were
	moves    int      // pods that were placed anew
	running  sync.WaitGroup
}

// New prepares the hosts of the cluster that config leads to. Its user may do everything.
func New(config *rest.Config, o Options) (*Agents, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	writes, err := client.New(config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	watches, err := cache.New(config, cache.Options{Scheme: scheme(), DefaultTransform: trim})
	if err != nil {
		return nil, fmt.Errorf("making a cache: %w", err)
	}
	signs, err := newAuthority()
	if err != nil {
		return nil, err
	}
	return &Agents{
		options: o, client: writes, cache: watches, authority: signs, slots: make(chan struct{}, writers),
		hosts: map[string]*host{}, releases: map[string]string{},
	}, nil
}

// Trusting is a configuration that also trusts the API servers of the hosts, which have certificates of an authority of their own.
func (a *Agents) Trusting(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.CAData = append(append([]byte{}, config.CAData...), a.authority.pem...)
	return config
}

// Run plays the hosts until the context ends.
func (a *Agents) Run(ctx context.Context) error {
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	for object, told := range map[client.Object]func(object any, gone bool){
		&corev1.Node{}:                  a.sawNode,
		&corev1.Pod{}:                   a.sawPod,
		&policyv1.PodDisruptionBudget{}: a.sawBudget,
		&refitv1alpha1.NodeUpgrade{}:    a.sawOrder,
		&refitv1alpha1.NodeReport{}:     a.sawQuestion,
	} {
		informer, err := a.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watching: %w", err)
		}
		if _, err := informer.AddEventHandler(telling(told)); err != nil {
			return fmt.Errorf("watching: %w", err)
		}
	}
	err := a.cache.Start(ctx)
	a.running.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.hosts {
		h.server.close()
	}
	return err
}

// telling hears of every change of an object.
func telling(told func(object any, gone bool)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { told(object, false) },
		UpdateFunc: func(_, object any) { told(object, false) },
		DeleteFunc: func(object any) {
			if last, is := object.(toolscache.DeletedFinalStateUnknown); is {
				object = last.Obj
			}
			told(object, true)
		},
	}
}

// begin does something beside the watches.
func (a *Agents) begin(work func(context.Context)) {
	a.mu.Lock()
	ctx := a.ctx
	a.mu.Unlock()
	a.running.Go(func() { work(ctx) })
}

// write writes something, with not too many others, until that works or the context ends.
func (a *Agents) write(ctx context.Context, what func(context.Context) error) {
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 2*time.Second) {
		select {
		case <-ctx.Done():
			return
		case a.slots <- struct{}{}:
		}
		err := what(ctx)
		<-a.slots
		if err == nil {
			return
		}
		pause(ctx, wait)
	}
}

// about is a time, up to a half more or less.
func about(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d) //nolint:gosec // nobody shall be surprised by it
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(refitv1alpha1.AddToScheme(s))
	return s
}

// trim takes away what nobody here looks at.
func trim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	if n, is := object.(*corev1.Node); is {
		n.Status.Images = nil
	}
	return object, nil
}
