package trial

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
)

// within is how long a trial may take. A kubelet that does its work has ended the Pod before, by its deadline.
const within = (deadline + 30) * time.Second

// removeWithin is how long the API may take to remove a Pod.
const removeWithin = 5 * time.Second

// Runner tries nodes.
type Runner struct {
	client kubernetes.Interface
	within time.Duration // a trial may take; tests have less of it
}

// New acts with a client.
func New(client kubernetes.Interface) *Runner { return &Runner{client: client, within: within} }

// Try tries a node once. It returns nil if all is well there, a Failure if something is not, ErrNoImage if nothing can be tried.
func (r *Runner) Try(ctx context.Context, node string, sequence int64) error {
	image, err := r.image(ctx)
	if err != nil {
		return err
	}
	t := &trying{Runner: r, wanted: podOf(node, sequence, image)}
	defer t.remove(ctx)
	limited, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	// The library logs what it stumbles over; the next list tells what became of it.
	quiet := klog.NewContext(limited, logr.Discard())
	_, err = watchtools.UntilWithSync(quiet, r.named(node), &corev1.Pod{}, t.begin(limited), t.saw(limited))
	if limited.Err() != nil && ctx.Err() == nil {
		return failed(fmt.Sprintf("the Pod has not ended within %s: %s", r.within, t.why(ctx)))
	}
	return err
}

// trying is one trial.
type trying struct {
	*Runner

	wanted  *corev1.Pod
	made    *corev1.Pod // as it was last seen; nil: not made yet
	waiting string      // why its container did not start when that was last told
}

// listWatch says that it cannot list by watching: while the API is away, the library would not notice for seconds that nobody wants it any more.
type listWatch struct{ *cache.ListWatch }

func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

// named lists and watches the one Pod of a node.
func (r *Runner) named(node string) cache.ListerWatcher {
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, node).String()
	pods := r.client.CoreV1().Pods(Namespace)
	return listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return pods.Watch(ctx, o)
		},
	}}
}

// begin makes the Pod, if no other one is in its place.
func (t *trying) begin(ctx context.Context) watchtools.PreconditionFunc {
	return func(store cache.Store) (bool, error) {
		if len(store.ListKeys()) > 0 {
			return false, nil // saw is told of it
		}
		return false, t.make(ctx)
	}
}

func (t *trying) make(ctx context.Context) error {
	made, err := t.client.CoreV1().Pods(Namespace).Create(ctx, t.wanted, metav1.CreateOptions{})
	if err != nil {
		return verdict(fmt.Errorf("making a Pod on the node: %w", err))
	}
	t.made = made
	return nil
}

// saw is told of every change of the Pod, and says whether it ended well.
func (t *trying) saw(ctx context.Context) watchtools.ConditionFunc {
	return func(event watch.Event) (bool, error) {
		pod, is := event.Object.(*corev1.Pod)
		switch {
		case !is:
			return false, apierrors.FromObject(event.Object)
		case t.made == nil && event.Type == watch.Deleted:
			return false, t.make(ctx)
		case t.made == nil:
			return false, t.delete(ctx, pod) // a former trial left it
		case pod.UID != t.made.UID:
			return false, nil
		case event.Type == watch.Deleted:
			return false, failed("somebody removed the Pod before it ended")
		}
		t.made = pod
		if reason := waitingFor(pod); reason != "" {
			t.waiting = reason
		}
		if pod.Status.Phase == corev1.PodFailed {
			return false, failed(t.why(ctx))
		}
		return pod.Status.Phase == corev1.PodSucceeded, nil
	}
}

// remove removes what was made, also when nobody wants the trial any more.
func (t *trying) remove(ctx context.Context) {
	if t.made == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	if err := t.delete(ctx, t.made); err != nil {
		klog.FromContext(ctx).Error(err, "the Pod of a trial is left", "node", t.made.Name)
	}
}

// delete removes this very Pod.
func (r *Runner) delete(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	err := r.client.CoreV1().Pods(Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another one of the name is another one's
		return nil
	}
	return verdict(fmt.Errorf("removing the Pod of a trial: %w", err))
}
