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

// watchBackoff is the backoff of a watch while the API is unreachable. Many drains lose it at the
// same moment, so the jitter is large.
func watchBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.7, Jitter: 0.5, Steps: 8, Cap: 10 * time.Second}
}

// source lists and watches objects, and reports the result of each attempt.
type source struct {
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	selector string // of fields
	report   func(err error, started time.Time)
}

// feed is a store that keeps nothing: it passes the objects of a reflector to the loop.
type feed[T any] struct {
	replace func([]T)
	update  func(T)
	remove  func(T)
}

func (f feed[T]) Add(object any) error { return f.Update(object) }
func (f feed[T]) Resync() error        { return nil }

func (f feed[T]) Update(object any) error {
	if o, ok := object.(T); ok {
		f.update(o)
	}
	return nil
}

func (f feed[T]) Delete(object any) error {
	if o, ok := object.(T); ok {
		f.remove(o)
	}
	return nil
}

func (f feed[T]) Replace(objects []any, _ string) error {
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		if o, ok := object.(T); ok {
			all = append(all, o)
		}
	}
	f.replace(all)
	return nil
}

// listWatch disables lists by watch: while the API is unreachable, they would notice the end of the
// context seconds late.
type listWatch struct{ *cache.ListWatch }

func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

// reflect watches until the context ends.
func reflect[T runtime.Object](ctx context.Context, s source, example T, into feed[T]) {
	lw := listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			started := time.Now()
			options.FieldSelector = s.selector
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			list, err := s.list(ctx, options)
			s.report(err, started)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			started := time.Now()
			options.FieldSelector = s.selector
			stream, err := s.watch(ctx, options)
			s.report(err, started)
			return stream, err
		},
	}}
	quiet := logr.Discard()
	cache.NewReflectorWithOptions(lw, example, into, cache.ReflectorOptions{Logger: &quiet, Name: "refit-drain", Backoff: watchBackoff()}).RunWithContext(ctx)
}

// watchPods watches the pods of the node.
func (r *run) watchPods(ctx context.Context) {
	pods := r.client.CoreV1().Pods(metav1.NamespaceAll)
	s := source{
		selector: onNode(r.view.order.Node),
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, o) },
		watch:    pods.Watch,
		report: func(err error, started time.Time) {
			r.noteAttempt(ctx, err, started, "list and watch pods in all namespaces")
		},
	}
	reflect(ctx, s, &corev1.Pod{}, feed[*corev1.Pod]{
		replace: func(all []*corev1.Pod) {
			for i := range all {
				all[i] = trim(all[i])
			}
			r.post(ctx, func(time.Time) { r.view.replace(all) })
		},
		update: func(p *corev1.Pod) {
			p = trim(p)
			r.post(ctx, func(time.Time) { r.view.updatePod(p) })
		},
		remove: func(p *corev1.Pod) { r.post(ctx, func(time.Time) { r.view.removePod(keyOf(p), p.UID) }) },
	})
}

// watchBudget watches one budget by its name.
func (r *run) watchBudget(ctx context.Context, k key) {
	budgets := r.client.PolicyV1().PodDisruptionBudgets(k.Namespace)
	s := source{
		selector: fields.OneTermEqualSelector(metav1.ObjectNameField, k.Name).String(),
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return budgets.List(ctx, o) },
		watch:    budgets.Watch,
		report: func(err error, started time.Time) {
			r.noteAttempt(ctx, err, started, "list and watch poddisruptionbudgets.policy in namespace "+k.Namespace)
		},
	}
	update := func(b *policyv1.PodDisruptionBudget) { r.post(ctx, func(time.Time) { r.view.updateBudget(k, b) }) }
	reflect(ctx, s, &policyv1.PodDisruptionBudget{}, feed[*policyv1.PodDisruptionBudget]{
		replace: func(all []*policyv1.PodDisruptionBudget) {
			if len(all) == 0 {
				update(nil)
				return
			}
			update(all[0])
		},
		update: update,
		remove: func(*policyv1.PodDisruptionBudget) { update(nil) },
	})
}
