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

// gather is how long news is collected before it is looked at: pods of thousands of nodes change at once.
const gather = 100 * time.Millisecond

// ErrNotDone is that the time was over before every node was done. What was applied goes on by itself; the Progress says who is late, and why.
var ErrNotDone = errors.New("not every node is done")

// Follow watches until the workloads among some objects have done their work on every node that is ready, or the context ends.
func (c *Cluster) Follow(ctx context.Context, objects []*unstructured.Unstructured, told Told) (Progress, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	f := c.newFollowing(watching, objects)
	var last Progress
	for {
		if f.synced() {
			now := f.look()
			now.tell(last, told)
			if last = now; now.complete() {
				return now, nil
			}
		}
		select {
		case <-ctx.Done():
			return f.late(ctx, last)
		case <-f.news:
		}
		select {
		case <-ctx.Done():
		case <-time.After(gather):
		}
	}
}

// following is one run of Follow: what is watched.
type following struct {
	*Cluster
	news chan struct{}
	// The templates of what is followed; empty: there is no such thing.
	agents, controller string
	daemonSet          *unstructured.Unstructured

	nodes, pods, deployment, controllers cache.Store
	informers                            []cache.Controller
}

func (c *Cluster) newFollowing(ctx context.Context, objects []*unstructured.Unstructured) *following {
	f := &following{Cluster: c, news: make(chan struct{}, 1)}
	for _, object := range objects {
		switch object.GetKind() {
		case kindDaemonSet:
			f.agents = templateOf(object)
			f.daemonSet = object
			label := labelName + "=" + object.GetName()
			f.nodes = f.watch(ctx, &corev1.Node{}, "nodes", "", "kubernetes.io/os=linux", "")
			f.pods = f.watch(ctx, &corev1.Pod{}, "pods", object.GetNamespace(), label, "")
		case kindDeployment:
			f.controller = templateOf(object)
			label := labelName + "=" + object.GetName()
			f.deployment = f.watch(ctx, &appsv1.Deployment{}, "deployments", object.GetNamespace(), "", object.GetName())
			f.controllers = f.watch(ctx, &corev1.Pod{}, "pods", object.GetNamespace(), label, "")
		}
	}
	return f
}

// watch keeps the objects of a kind, as far as they matter here.
func (f *following) watch(ctx context.Context, example runtime.Object, resource, namespace, label, name string) cache.Store {
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
	tell := func() {
		select {
		case f.news <- struct{}{}:
		default:
		}
	}
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: list, ObjectType: example, Transform: slim,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
		},
	})
	f.informers = append(f.informers, informer)
	// The library logs what it stumbles over; a person is told what it means instead.
	quiet := klog.NewContext(ctx, logr.Discard())
	go func() {
		informer.RunWithContext(quiet)
	}()
	// Nothing may be there at all, which is no event.
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			tell()
		}
	}()
	return store
}

// slim drops what nobody here looks at and a large cluster has much of.
func slim(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Node:
		o.ManagedFields, o.Annotations, o.Status.Images, o.Status.VolumesInUse, o.Status.VolumesAttached = nil, nil, nil, nil, nil
	case *corev1.Pod:
		o.ManagedFields = nil
	}
	return object, nil
}

func (f *following) synced() bool {
	return !slices.ContainsFunc(f.informers, func(i cache.Controller) bool { return !i.HasSynced() })
}

// look is how far all is now.
func (f *following) look() Progress {
	var p Progress
	if f.nodes != nil {
		p.Nodes = nodesOf(of[*corev1.Node](f.nodes), of[*corev1.Pod](f.pods), f.agents)
	}
	if f.deployment != nil {
		var deployment *appsv1.Deployment
		for _, d := range of[*appsv1.Deployment](f.deployment) {
			deployment = d
		}
		p.Controller = controllerOf(deployment, of[*corev1.Pod](f.controllers), f.controller)
	}
	return p
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

// tell tells what is new.
func (p Progress) tell(last Progress, told Told) {
	done, all := p.done()
	for _, n := range p.Nodes {
		if told.Node != nil && !slices.Contains(last.Nodes, n) {
			told.Node(n, done, all)
		}
	}
	if p.Controller == nil || told.Pod == nil {
		return
	}
	var before []PodProgress
	if last.Controller != nil {
		before = last.Controller.Pods
	}
	for _, pod := range p.Controller.Pods {
		if !slices.Contains(before, pod) {
			told.Pod(pod)
		}
	}
}

// late is the end of a Follow whose time was over.
func (f *following) late(ctx context.Context, p Progress) (Progress, error) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return p, ctx.Err()
	}
	waiting := slices.ContainsFunc(p.Nodes, func(n NodeProgress) bool { return n.State == Waiting })
	if waiting {
		// No pod says why there is none.
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		why := f.whyNoPods(asking)
		for i := range p.Nodes {
			if p.Nodes[i].State == Waiting {
				p.Nodes[i].Why = why
			}
		}
	}
	done, all := p.done()
	return p, fmt.Errorf("%w: %d of %d nodes (%w)", ErrNotDone, done, all, ctx.Err())
}

// whyNoPods is the last complaint about the DaemonSet; empty if nobody complained.
func (f *following) whyNoPods(ctx context.Context) string {
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
	return brief(newest.Reason, newest.Message)
}
