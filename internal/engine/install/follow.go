package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// debounce is how long changes are collected before they are evaluated: the pods of thousands of
// nodes change at once.
const debounce = 100 * time.Millisecond

// ErrNotDone is returned if the timeout expires before every node is done. The workloads go on by
// themselves; the Progress lists the nodes that are not done, with the reason.
var ErrNotDone = errors.New("not every node is done")

// Follow watches the workloads among the objects until they are done on every ready node, or until
// the context ends.
func (c *Cluster) Follow(ctx context.Context, objects []*unstructured.Unstructured, callbacks Callbacks) (Progress, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	f := c.newFollower(watching, objects)
	var last Progress
	server := &reach{callbacks: callbacks}
	for {
		server.observe(ctx, f.failures.any())
		if f.synced() {
			now := f.progress()
			now.report(last, callbacks)
			if last = now; now.complete() {
				return now, nil
			}
		}
		select {
		case <-ctx.Done():
			return f.timedOut(ctx, last)
		case <-f.changed:
		}
		select {
		case <-ctx.Done():
		case <-time.After(debounce):
		}
	}
}

// follower is one call of Follow, with its watches.
type follower struct {
	*Cluster
	changed chan struct{}
	// The template hash of the agents, empty if they are not followed.
	agents    string
	daemonSet *unstructured.Unstructured

	nodes, pods cache.Store
	deployments map[string]followed // by name
	informers   []cache.Controller
	failures    failures
}

// followed is a Deployment that is followed.
type followed struct {
	template         string // its hash
	deployment, pods cache.Store
}

func (c *Cluster) newFollower(ctx context.Context, objects []*unstructured.Unstructured) *follower {
	f := &follower{Cluster: c, changed: make(chan struct{}, 1), deployments: map[string]followed{}}
	for _, object := range objects {
		switch object.GetKind() {
		case kindDaemonSet:
			f.agents = templateOf(object)
			f.daemonSet = object
			label := labelName + "=" + object.GetName()
			f.nodes = f.watch(ctx, &corev1.Node{}, "nodes", "", "kubernetes.io/os=linux", "")
			f.pods = f.watch(ctx, &corev1.Pod{}, "pods", object.GetNamespace(), label, "")
		case kindDeployment:
			label := labelName + "=" + object.GetName()
			f.deployments[object.GetName()] = followed{
				template:   templateOf(object),
				deployment: f.watch(ctx, &appsv1.Deployment{}, "deployments", object.GetNamespace(), "", object.GetName()),
				pods:       f.watch(ctx, &corev1.Pod{}, "pods", object.GetNamespace(), label, ""),
			}
		}
	}
	return f
}

// watch caches the objects that a selector or a name matches.
func (f *follower) watch(ctx context.Context, example runtime.Object, resource, namespace, label, name string) cache.Store {
	client := f.client.CoreV1().RESTClient()
	if _, apps := example.(*appsv1.Deployment); apps {
		client = f.client.AppsV1().RESTClient()
	}
	list := cache.NewFilteredListWatchFromClient(client, resource, namespace, func(options *metav1.ListOptions) {
		options.LabelSelector = label
		if name != "" {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}
	})
	notify := func() {
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
	observed := &observedWatch{ListWatch: list}
	observed.result = func(err error) {
		f.failures.set(observed, err)
		notify()
	}
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: observed, ObjectType: example, Transform: trim,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { notify() }, UpdateFunc: func(any, any) { notify() }, DeleteFunc: func(any) { notify() },
		},
	})
	f.informers = append(f.informers, informer)
	// client-go logs its watch errors; Follow reports what they mean instead.
	quiet := klog.NewContext(ctx, logr.Discard())
	go func() {
		informer.RunWithContext(quiet)
	}()
	// An empty list causes no event.
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			notify()
		}
	}()
	return store
}

// trim drops large fields that are not used here.
func trim(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Node:
		o.ManagedFields, o.Annotations, o.Status.Images, o.Status.VolumesInUse, o.Status.VolumesAttached = nil, nil, nil, nil, nil
	case *corev1.Pod:
		o.ManagedFields = nil
	}
	return object, nil
}

func (f *follower) synced() bool {
	return !slices.ContainsFunc(f.informers, func(i cache.Controller) bool { return !i.HasSynced() })
}

// progress returns the present progress.
func (f *follower) progress() Progress {
	var p Progress
	if f.nodes != nil {
		p.Nodes = nodesOf(of[*corev1.Node](f.nodes), of[*corev1.Pod](f.pods), f.agents)
	}
	p.Controller, p.Components = f.progressOf(controllerName), f.progressOf(componentsName)
	return p
}

// progressOf returns the progress of a Deployment, nil if it is not followed.
func (f *follower) progressOf(name string) *ControllerProgress {
	d, has := f.deployments[name]
	if !has {
		return nil
	}
	var deployment *appsv1.Deployment
	for _, found := range of[*appsv1.Deployment](d.deployment) {
		deployment = found
	}
	return controllerOf(deployment, of[*corev1.Pod](d.pods), d.template)
}

func of[T any](store cache.Store) []T {
	var out []T
	for _, each := range store.List() {
		if object, ok := each.(T); ok {
			out = append(out, object)
		}
	}
	return out
}

// report reports what changed since last.
func (p Progress) report(last Progress, callbacks Callbacks) {
	done, all := p.done()
	for _, n := range p.Nodes {
		if callbacks.Node != nil && !slices.Contains(last.Nodes, n) {
			callbacks.Node(n, done, all)
		}
	}
	if callbacks.Pod == nil {
		return
	}
	var before []PodProgress
	for _, d := range last.deployments() {
		before = append(before, d.Pods...)
	}
	for _, d := range p.deployments() {
		for _, pod := range d.Pods {
			if !slices.Contains(before, pod) {
				callbacks.Pod(pod)
			}
		}
	}
}

// timedOut returns the result of a Follow whose context ended.
func (f *follower) timedOut(ctx context.Context, p Progress) (Progress, error) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return p, ctx.Err()
	}
	waiting := slices.ContainsFunc(p.Nodes, func(n NodeProgress) bool { return n.State == Waiting })
	if waiting {
		// A missing pod has no status: an Event of the DaemonSet has the reason.
		eventCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		why := f.lastWarning(eventCtx)
		for i := range p.Nodes {
			if p.Nodes[i].State == Waiting {
				p.Nodes[i].Why = why
			}
		}
	}
	done, all := p.done()
	return p, fmt.Errorf("%w: %d of %d nodes (%w)", ErrNotDone, done, all, ctx.Err())
}

// lastWarning returns the newest warning Event of the DaemonSet, or an empty string.
func (f *follower) lastWarning(ctx context.Context) string {
	events, err := f.client.CoreV1().Events(f.daemonSet.GetNamespace()).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=DaemonSet,involvedObject.name=" + f.daemonSet.GetName() + ",type=Warning",
	})
	if err != nil {
		return ""
	}
	var newest *corev1.Event
	for i := range events.Items {
		if e := &events.Items[i]; newest == nil || e.LastTimestamp.After(newest.LastTimestamp.Time) {
			newest = e
		}
	}
	if newest == nil {
		return ""
	}
	return summary(newest.Reason, newest.Message)
}
