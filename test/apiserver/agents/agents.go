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

// writers is the number of concurrent writes.
const writers = 64

// Options configure how the simulated hosts behave. With the zero value, hosts complete everything
// immediately.
type Options struct {
	// Fetch is how long a host takes to fetch a ClusterRelease, Step how long each step takes, and
	// End how long a pod takes to terminate. Each duration varies by up to a half: hosts of equal
	// speed would all finish at the same moment.
	Fetch, Step, End time.Duration
	// BeforeStep is called when a step starts on a node, with a name as `refit-agent steps` prints
	// it. It may block the step until the context ends, as on a host that hangs. An error fails the
	// step.
	BeforeStep func(ctx context.Context, node, step string) error
	// EditReport is called before a node's facts are reported, and may change them, for example to
	// those of an unhealthy host.
	EditReport func(node string, facts *refitv1alpha1.NodeReportStatus)
	// TakeBackup takes a backup on a node and returns its result. It may block until the context
	// ends. Without it, every backup succeeds immediately.
	TakeBackup func(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus
}

// Agents are the simulated hosts of a cluster.
type Agents struct {
	options   Options
	client    client.Client
	cache     cache.Cache
	authority *authority
	slots     chan struct{} // limits concurrent writes to writers

	mu       sync.Mutex
	releases map[string]string // Kubernetes versions, by the name of the ClusterRelease
	ctx      context.Context   //nolint:containedctx // that of Run; work that a watch starts ends with it
	hosts    map[string]*host
	names    []string // of all hosts that ever existed
	moves    int      // pods that were recreated on another node
	running  sync.WaitGroup
}

// New prepares the hosts of the cluster that config connects to. Its user needs all permissions.
func New(config *rest.Config, o Options) (*Agents, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	writes, err := client.New(config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, fmt.Errorf("cannot create a client: %w", err)
	}
	watches, err := cache.New(config, cache.Options{Scheme: scheme(), DefaultTransform: trim})
	if err != nil {
		return nil, fmt.Errorf("cannot create a cache: %w", err)
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

// Trusting returns a configuration that also trusts the API servers of the hosts, whose
// certificates are signed by a separate CA.
func (a *Agents) Trusting(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.CAData = append(append([]byte{}, config.CAData...), a.authority.pem...)
	return config
}

// Run simulates the hosts until the context ends.
func (a *Agents) Run(ctx context.Context) error {
	a.mu.Lock()
	a.ctx = ctx
	a.mu.Unlock()
	for object, handle := range map[client.Object]func(object any, gone bool){
		&corev1.Node{}:                  a.handleNode,
		&corev1.Pod{}:                   a.handlePod,
		&policyv1.PodDisruptionBudget{}: a.handleBudget,
		&refitv1alpha1.NodeUpgrade{}:    a.handleOrder,
		&refitv1alpha1.NodeReport{}:     a.handleReport,
	} {
		informer, err := a.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("cannot watch: %w", err)
		}
		if _, err := informer.AddEventHandler(eventHandler(handle)); err != nil {
			return fmt.Errorf("cannot watch: %w", err)
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

// eventHandler returns a handler that calls handle for every change of an object.
func eventHandler(handle func(object any, gone bool)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { handle(object, false) },
		UpdateFunc: func(_, object any) { handle(object, false) },
		DeleteFunc: func(object any) {
			if last, is := object.(toolscache.DeletedFinalStateUnknown); is {
				object = last.Obj
			}
			handle(object, true)
		},
	}
}

// begin runs a function in the background.
func (a *Agents) begin(work func(context.Context)) {
	a.mu.Lock()
	ctx := a.ctx
	a.mu.Unlock()
	a.running.Go(func() { work(ctx) })
}

// write retries a write until it succeeds or the context ends. It limits the number of concurrent
// writes.
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

// about returns a duration that varies by up to a half.
func about(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d) //nolint:gosec // not a secret
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

// trim removes fields that the simulation does not read, to save memory.
func trim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	if n, is := object.(*corev1.Node); is {
		n.Status.Images = nil
	}
	return object, nil
}
