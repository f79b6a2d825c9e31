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

// timeout bounds a trial. The kubelet should have ended the Pod before, at its deadline.
const timeout = (deadline + 30) * time.Second

// createTimeout and deleteTimeout bound the requests for a Pod.
const (
	createTimeout = 10 * time.Second
	deleteTimeout = 5 * time.Second
)

// Runner runs trials.
type Runner struct {
	client  kubernetes.Interface
	timeout time.Duration // tests set a shorter one
}

// New returns a Runner that uses a client.
func New(client kubernetes.Interface) *Runner { return &Runner{client: client, timeout: timeout} }

// Try runs one trial. It returns nil if the node is healthy, a Failure if it is not, and ErrNoImage
// if there is no image.
func (r *Runner) Try(ctx context.Context, node string, sequence int64) error {
	source, err := r.source(ctx)
	if err != nil {
		return err
	}
	t := &attempt{Runner: r, wanted: podOf(node, sequence, source)}
	defer t.remove(ctx)
	limited, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	// The library logs errors that its next list resolves.
	quiet := klog.NewContext(limited, logr.Discard())
	_, err = watchtools.UntilWithSync(quiet, r.named(node), &corev1.Pod{}, t.start(limited), t.handle(limited))
	if limited.Err() != nil && ctx.Err() == nil {
		return failed(fmt.Sprintf("the Pod did not end within %s: %s", r.timeout, t.reason(ctx)))
	}
	return err
}

// attempt is one trial.
type attempt struct {
	*Runner

	wanted  *corev1.Pod
	created *corev1.Pod // as last observed; nil: not created yet
	waiting string      // the last reason why its container did not start
}

// listWatch disables lists by watch: while the API is unreachable, they would notice the end of the
// context seconds late.
type listWatch struct{ *cache.ListWatch }

func (listWatch) IsWatchListSemanticsUnSupported() bool { return true }

// named lists and watches the Pod of a node.
func (r *Runner) named(node string) cache.ListerWatcher {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, node).String()
	pods := r.client.CoreV1().Pods(Namespace)
	return listWatch{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return pods.Watch(ctx, o)
		},
	}}
}

// start creates the Pod, unless another one has its name.
func (t *attempt) start(ctx context.Context) watchtools.PreconditionFunc {
	return func(store cache.Store) (bool, error) {
		if len(store.ListKeys()) > 0 {
			return false, nil // handle gets it as an event
		}
		return false, t.create(ctx)
	}
}

// create creates the Pod. The request is not canceled with the trial: a Pod whose creation was not
// observed would not be removed.
func (t *attempt) create(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	created, err := t.client.CoreV1().Pods(Namespace).Create(ctx, t.wanted, metav1.CreateOptions{})
	if err != nil {
		return verdict(fmt.Errorf("cannot create a Pod on the node: %w", err))
	}
	t.created = created
	return nil
}

// handle handles each event of the Pod, and returns true when it has succeeded.
func (t *attempt) handle(ctx context.Context) watchtools.ConditionFunc {
	return func(event watch.Event) (bool, error) {
		pod, ok := event.Object.(*corev1.Pod)
		switch {
		case !ok:
			return false, apierrors.FromObject(event.Object)
		case t.created == nil && event.Type == watch.Deleted:
			return false, t.create(ctx)
		case t.created == nil:
			return false, t.delete(ctx, pod) // of a former trial
		case pod.UID != t.created.UID:
			return false, nil
		case event.Type == watch.Deleted:
			return false, failed("the Pod was deleted before it ended")
		}
		t.created = pod
		if reason := waitingReason(pod); reason != "" {
			t.waiting = reason
		}
		if pod.Status.Phase == corev1.PodFailed {
			return false, failed(t.reason(ctx))
		}
		return pod.Status.Phase == corev1.PodSucceeded, nil
	}
}

// remove deletes the created Pod, also after the context has ended.
func (t *attempt) remove(ctx context.Context) {
	if t.created == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	if err := t.delete(ctx, t.created); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot delete the Pod of a trial", "node", t.created.Name)
	}
}

// delete deletes this very Pod.
func (r *Runner) delete(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	err := r.client.CoreV1().Pods(Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pod.UID))})
	// On a conflict, the name belongs to the Pod of another trial.
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return verdict(fmt.Errorf("cannot delete the Pod of a trial: %w", err))
}
