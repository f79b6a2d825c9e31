//go:build apiserver

package thousands

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// watcher observes independently what happens to each node and when, and the writes for it.
type watcher struct {
	mu            sync.Mutex
	at            map[string]*moments
	claimed, done []*moments // in that order
	written       map[string]sum
}

// sum counts the writes of a resource.
type sum struct{ writes, bytes int }

func (b *bed) watches() *watcher {
	b.t.Helper()
	w := &watcher{at: map[string]*moments{}, written: map[string]sum{}}
	watched, err := cache.New(b.RESTConfig(), cache.Options{Scheme: scheme(b.t)})
	must(b.t, err)
	follow(b, watched, w, w.sawNode)
	follow(b, watched, w, w.sawOperation)
	follow(b, watched, w, w.sawOrder)
	follow(b, watched, w, func(*refitv1alpha1.NodeReport) {})
	b.beside(func(ctx context.Context) { _ = watched.Start(ctx) }) // stops with the test
	if !watched.WaitForCacheSync(b.t.Context()) {
		b.t.Fatal("the watches did not begin")
	}
	return w
}

// follow calls a function for every change of a resource, and counts the writes. It does not count
// objects that exist already.
func follow[T any, O interface {
	*T
	client.Object
}](b *bed, watched cache.Cache, w *watcher, saw func(O)) {
	b.t.Helper()
	informer, err := watched.GetInformer(b.t.Context(), O(new(T)), cache.BlockUntilSynced(false))
	must(b.t, err)
	kind := strings.ToLower(reflect.TypeFor[T]().Name())
	heard := func(told any, now bool) {
		object, is := told.(O)
		if !is {
			return
		}
		text, _ := json.Marshal(object) // as etcd stores it, except for Nodes, which are slightly smaller there
		w.mu.Lock()
		defer w.mu.Unlock()
		if now {
			w.written[kind] = sum{w.written[kind].writes + 1, w.written[kind].bytes + len(text)}
		}
		saw(object)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, there bool) { heard(object, !there) }, UpdateFunc: func(_, object any) { heard(object, true) },
	})
	must(b.t, err)
}

func (w *watcher) of(node string) *moments {
	if w.at[node] == nil {
		w.at[node] = &moments{}
	}
	return w.at[node]
}

// sums returns the writes by kind.
func (w *watcher) sums() map[string]sum {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.written)
}

func (w *watcher) sawNode(n *corev1.Node) {
	m := w.of(n.Name)
	m.zone, m.pool = n.Labels[corev1.LabelTopologyZone], n.Labels[labelPool]
}

func (w *watcher) sawOperation(o *refitv1alpha1.ClusterUpgrade) {
	for _, name := range o.Status.Active {
		if m := w.of(name); first(&m.claimed, true) {
			w.claimed = append(w.claimed, m)
		}
	}
}

func (w *watcher) sawOrder(u *refitv1alpha1.NodeUpgrade) {
	m, drain, applies := w.of(u.Name), u.Status.Drain, u.Spec.Permit == refitv1alpha1.PermitApply
	first(&m.draining, drain != nil)
	first(&m.drained, drain != nil && drain.Phase == refitv1alpha1.DrainDrained)
	first(&m.permitted, applies)
	if first(&m.done, applies && u.Status.ObservedSequence == u.Spec.Sequence && u.Status.Phase == refitv1alpha1.NodeSucceeded) {
		w.done = append(w.done, m)
	}
}

// first records the moment in which a condition first holds, and reports whether that is now.
func first(moment *time.Time, is bool) bool {
	if !is || !moment.IsZero() {
		return false
	}
	*moment = time.Now()
	return true
}
