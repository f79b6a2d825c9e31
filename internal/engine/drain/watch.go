package drain

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

func onNode(node string) string { return fields.OneTermEqualSelector("spec.nodeName", node).String() }

// backoff is between tries to watch while the API is away. Many drains lose it at the same moment, so they spread out.
func backoff() *wait.Backoff {
	return &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.7, Jitter: 0.5, Steps: 8, Cap: 10 * time.Second}
}

// source lists and watches, and tells of each try how it went.
type source struct {
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	only  string // field selector
	tried func(err error, begun time.Time)
}

// feed keeps nothing: it hands what a reflector sees to the loop.
type feed[T any] struct {
	all  func([]T) // what is there, and nothing else
	now  func(T)
	gone func(T)
}

func (f feed[T]) Add(object any) error { return f.Update(object) }
func (f feed[T]) Resync() error        { return nil }

func (f feed[T]) Update(object any) error {
	if o, ours := object.(T); ours {
		f.now(o)
	}
	return nil
}

func (f feed[T]) Delete(object any) error {
	if o, ours := object.(T); ours {
		f.gone(o)
	}
	return nil
}

func (f feed[T]) Replace(objects []any, _ string) error {
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		if o, ours := object.(T); ours {
			all = append(all, o)
		}
	}
	f.all(all)
	return nil
}

// listWatch says that it cannot list by watching: while the API is away, the library would not notice for seconds that nobody wants it any more.
type listWatch struct{ *cache.ListWatch }

func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

// reflect watches until the context ends.
func reflect[T runtime.Object](ctx context.Context, s source, example T, into feed[T]) {
	lw := listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			begun := time.Now()
			options.FieldSelector = s.only
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			list, err := s.list(ctx, options)
			s.tried(err, begun)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			begun := time.Now()
			options.FieldSelector = s.only
			stream, err := s.watch(ctx, options)
			s.tried(err, begun)
			return stream, err
		},
	}}
	quiet := logr.Discard()
	cache.NewReflectorWithOptions(lw, example, into, cache.ReflectorOptions{Logger: &quiet, Name: "refit-drain", Backoff: backoff()}).RunWithContext(ctx)
}

// watchPods watches the pods of the node.
func (r *run) watchPods(ctx context.Context) {
	pods := r.client.CoreV1().Pods(metav1.NamespaceAll)
	s := source{
		only:  onNode(r.view.order.Node),
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, o) },
		watch: pods.Watch,
		tried: func(err error, begun time.Time) { r.tried(ctx, err, begun, "list and watch pods in all namespaces") },
	}
	reflect(ctx, s, &corev1.Pod{}, feed[*corev1.Pod]{
		all: func(all []*corev1.Pod) {
			for i := range all {
				all[i] = slim(all[i])
			}
			r.post(ctx, func(time.Time) { r.view.replace(all) })
		},
		now: func(p *corev1.Pod) {
			p = slim(p)
			r.post(ctx, func(time.Time) { r.view.saw(p) })
		},
		gone: func(p *corev1.Pod) { r.post(ctx, func(time.Time) { r.view.lost(keyOf(p), p.UID) }) },
	})
}

// watchBudget watches one budget by its name.
func (r *run) watchBudget(ctx context.Context, k key) {
	budgets := r.client.PolicyV1().PodDisruptionBudgets(k.Namespace)
	s := source{
		only:  fields.OneTermEqualSelector(metav1.ObjectNameField, k.Name).String(),
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return budgets.List(ctx, o) },
		watch: budgets.Watch,
		tried: func(err error, begun time.Time) {
			r.tried(ctx, err, begun, "list and watch poddisruptionbudgets.policy in namespace "+k.Namespace)
		},
	}
	tell := func(b *policyv1.PodDisruptionBudget) { r.post(ctx, func(time.Time) { r.view.sawBudget(k, b) }) }
	reflect(ctx, s, &policyv1.PodDisruptionBudget{}, feed[*policyv1.PodDisruptionBudget]{
		all: func(all []*policyv1.PodDisruptionBudget) {
			if len(all) == 0 {
				tell(nil)
				return
			}
			tell(all[0])
		},
		now:  tell,
		gone: func(*policyv1.PodDisruptionBudget) { tell(nil) },
	})
}
