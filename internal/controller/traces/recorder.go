package traces

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/trace"
)

// exportWindow is how long after the end of an operation a new leader still exports its spans.
const exportWindow = time.Hour

// maxRemembered bounds the IDs of exported spans. Beyond it, spans are exported again.
const maxRemembered = 500_000

// recorder derives spans from changes of objects. The informer of each kind calls it in a goroutine
// of its own.
type recorder struct {
	cache client.Reader
	// offer takes spans, or reports that there is no space for them.
	offer func(ctx context.Context, spans []trace.Span) bool
	now   func() time.Time

	mu sync.Mutex
	// exported are the IDs of the spans that were offered, by operation.
	exported   map[types.UID]map[trace.SpanID]bool
	remembered int
}

func newRecorder(cache client.Reader, offer func(context.Context, []trace.Span) bool, now func() time.Time) *recorder {
	return &recorder{cache: cache, offer: offer, now: now, exported: map[types.UID]map[trace.SpanID]bool{}}
}

// changed exports what has ended with a change of an object; was is nil for the first observation.
func (r *recorder) changed(ctx context.Context, was, now any) {
	switch o := now.(type) {
	case *refitv1alpha1.ClusterUpgrade:
		before, _ := was.(*refitv1alpha1.ClusterUpgrade)
		r.operation(ctx, before, o)
	case *refitv1alpha1.NodeUpgrade:
		if before, _ := was.(*refitv1alpha1.NodeUpgrade); before != nil && replaces(&before.Spec, &o.Spec) {
			r.node(ctx, before, true) // the status of the former order is about to be overwritten
		}
		r.node(ctx, o, false)
	case *refitv1alpha1.EtcdBackup:
		if u := r.find(ctx, o.Spec.Operation, types.UID(o.Labels[refitv1alpha1.LabelOperation])); u != nil {
			r.export(ctx, u, trace.Backup(u, o))
		}
	}
}

// deleted exports what an object recorded last.
func (r *recorder) deleted(ctx context.Context, object any) {
	if unknown, is := object.(toolscache.DeletedFinalStateUnknown); is {
		object = unknown.Obj
	}
	switch o := object.(type) {
	case *refitv1alpha1.NodeUpgrade:
		r.node(ctx, o, true)
	case *refitv1alpha1.ClusterUpgrade:
		r.forget(o.UID)
	}
}

// replaces reports whether an order is not the continuation of a former one.
func replaces(was, now *refitv1alpha1.NodeUpgradeSpec) bool {
	return was.Operation != now.Operation || was.Release != now.Release || was.Attempt != now.Attempt ||
		was.NodeUID != now.NodeUID || was.MachineID != now.MachineID
}

// operation exports what has ended in an operation: its stages, the nodes that it has released, and
// everything once it has ended.
func (r *recorder) operation(ctx context.Context, was, u *refitv1alpha1.ClusterUpgrade) {
	r.export(ctx, u, trace.Operation(u))
	if was == nil {
		return // the nodes are observed, too
	}
	if u.HasEnded() && !was.HasEnded() {
		var all refitv1alpha1.NodeUpgradeList
		if err := r.cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
			return // the cache ends
		}
		for i := range all.Items {
			r.export(ctx, u, trace.Node(u, &all.Items[i], false))
		}
		return
	}
	for _, name := range was.Status.Active {
		n := &refitv1alpha1.NodeUpgrade{}
		if !slices.Contains(u.Status.Active, name) && r.cache.Get(ctx, types.NamespacedName{Name: name}, n) == nil {
			r.export(ctx, u, trace.Node(u, n, false))
		}
	}
}

func (r *recorder) node(ctx context.Context, n *refitv1alpha1.NodeUpgrade, replaced bool) {
	if u := r.find(ctx, n.Spec.Operation.Name, n.Spec.Operation.UID); u != nil {
		r.export(ctx, u, trace.Node(u, n, replaced))
	}
}

// find returns an operation, nil if it does not exist any more.
func (r *recorder) find(ctx context.Context, name string, uid types.UID) *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{}
	if name == "" || r.cache.Get(ctx, types.NamespacedName{Name: name}, u) != nil || u.UID != uid {
		return nil
	}
	return u
}

// export offers the spans that were not offered before. An operation that ended long ago is past:
// its spans were exported, or traces were off.
func (r *recorder) export(ctx context.Context, u *refitv1alpha1.ClusterUpgrade, spans []trace.Span) {
	if end := trace.EndTime(u); !end.IsZero() && r.now().Sub(end) > exportWindow {
		r.forget(u.UID)
		return
	}
	r.mu.Lock()
	fresh := slices.DeleteFunc(spans, func(s trace.Span) bool { return r.exported[u.UID][s.ID] })
	r.remember(u.UID, fresh)
	r.mu.Unlock()
	if len(fresh) > 0 && !r.offer(ctx, fresh) {
		r.mu.Lock()
		for i := range fresh {
			if known := r.exported[u.UID]; known[fresh[i].ID] {
				delete(known, fresh[i].ID) // the next change of the object offers them again
				r.remembered--
			}
		}
		r.mu.Unlock()
	}
}

func (r *recorder) remember(operation types.UID, spans []trace.Span) {
	if r.remembered > maxRemembered {
		r.exported, r.remembered = map[types.UID]map[trace.SpanID]bool{}, 0
	}
	if r.exported[operation] == nil {
		r.exported[operation] = map[trace.SpanID]bool{}
	}
	for i := range spans {
		r.exported[operation][spans[i].ID] = true
		r.remembered++
	}
}

func (r *recorder) forget(operation types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remembered -= len(r.exported[operation])
	delete(r.exported, operation)
}
