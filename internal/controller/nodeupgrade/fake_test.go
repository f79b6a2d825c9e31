package nodeupgrade

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
)

const node = "worker-1"

var request = reconcile.Request{NamespacedName: types.NamespacedName{Name: node}}

// fakeDrainer is a Drainer whose drains end when a result is sent.
type fakeDrainer struct {
	results chan error

	mu       sync.Mutex
	orders   []drain.Order
	canceled int
	progress func(drain.Progress)
}

func (f *fakeDrainer) Drain(ctx context.Context, order drain.Order, progress func(drain.Progress)) error {
	f.mu.Lock()
	f.orders, f.progress = append(f.orders, order), progress
	f.mu.Unlock()
	select {
	case err := <-f.results:
		return err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.canceled++
		return ctx.Err()
	}
}

// counts is how many drains were started, and how many of them were canceled.
func (f *fakeDrainer) counts() (started, canceled int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.orders), f.canceled
}

// fakeTrials is a TrialRunner whose trials end when a result is sent.
type fakeTrials struct {
	results chan error
	pods    []string // nodes on which a former trial left its Pod

	mu       sync.Mutex
	started  int
	canceled int
	removed  []string
}

func (f *fakeTrials) Try(ctx context.Context, _ string, _ int64) error {
	f.mu.Lock()
	f.started++
	f.mu.Unlock()
	select {
	case err := <-f.results:
		return err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.canceled++
		return ctx.Err()
	}
}

func (f *fakeTrials) DeleteOrphans(ctx context.Context, tried func(context.Context, string) (bool, error)) error {
	for _, node := range f.pods {
		keep, err := tried(ctx, node)
		if err != nil {
			return err
		}
		if !keep {
			f.removed = append(f.removed, node)
		}
	}
	return nil
}

func (f *fakeTrials) counts() (started, canceled int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started, f.canceled
}

// world is a Reconciler and everything around it.
type world struct {
	*testing.T

	*Reconciler

	drainer  *fakeDrainer
	runner   *fakeTrials
	recorded chan string
	refused  int64

	// failGet and failPatch fail the next requests, in order; nil lets one pass.
	mu                 sync.Mutex
	failGet, failPatch []error
}

// inWorld runs a test in a bubble, where time passes at once, with the objects in the cluster.
func inWorld(t *testing.T, test func(w *world), objects ...client.Object) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		recorder := events.NewFakeRecorder(10)
		w := &world{T: t, drainer: &fakeDrainer{results: make(chan error)}, runner: &fakeTrials{results: make(chan error)}, recorded: recorder.Events}
		c := w.client(objects)
		w.Reconciler = &Reconciler{
			Client: c, Cache: c, Drainer: w.drainer, Trials: w.runner, Recorder: recorder, Now: time.Now,
			CountRefusedEvictions: func(more int64) { w.refused += more },
			ended:                 make(chan event.GenericEvent),
		}
		test(w)
		w.shutDown()
	})
}

func (w *world) client(objects []client.Object) client.Client {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, refitv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			w.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&refitv1alpha1.NodeUpgrade{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := w.next(&w.failGet); err != nil {
					return err
				}
				return c.Get(ctx, key, o, opts...)
			},
			SubResourcePatch: func(
				ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
			) error {
				if err := w.next(&w.failPatch); err != nil {
					return err
				}
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
}

func (w *world) next(failures *[]error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(*failures) == 0 {
		return nil
	}
	err := (*failures)[0]
	*failures = (*failures)[1:]
	return err
}

// reconcile reconciles the node and waits until nothing moves any more.
func (w *world) reconcile() {
	w.Helper()
	if _, err := w.Reconcile(w.Context(), request); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

// stored is the node's order as the cluster has it.
func (w *world) stored() *refitv1alpha1.NodeUpgrade {
	w.Helper()
	u := &refitv1alpha1.NodeUpgrade{}
	if err := w.Client.Get(w.Context(), request.NamespacedName, u); err != nil {
		w.Fatal(err)
	}
	return u
}

// change writes the status of the node's order, as the other controller does.
func (w *world) change(change func(*refitv1alpha1.NodeUpgrade)) {
	w.Helper()
	u := w.stored()
	change(u)
	if err := w.Client.Status().Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
}

// events are what was recorded so far.
func (w *world) events() []string {
	var out []string
	for {
		select {
		case e := <-w.recorded:
			out = append(out, e)
		default:
			return out
		}
	}
}

func (w *world) expectDrains(started, canceled int) {
	w.Helper()
	if s, c := w.drainer.counts(); s != started || c != canceled {
		w.Errorf("%d drains were started and %d canceled, want %d and %d", s, c, started, canceled)
	}
}

func (w *world) expectTrials(started, canceled int) {
	w.Helper()
	if s, c := w.runner.counts(); s != started || c != canceled {
		w.Errorf("%d trials were started and %d canceled, want %d and %d", s, c, started, canceled)
	}
}

// operation is the operation that the orders belong to.
func operation(changes ...func(*refitv1alpha1.ClusterUpgrade)) *refitv1alpha1.ClusterUpgrade {
	o := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op"}}
	for _, change := range changes {
		change(o)
	}
	return o
}

// order is the node's order, without anything to do for the controller.
func order(changes ...func(*refitv1alpha1.NodeUpgrade)) *refitv1alpha1.NodeUpgrade {
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: node}}
	u.Spec.NodeUID, u.Spec.Sequence, u.Spec.Operation = "uid", 7, refitv1alpha1.Operation{Name: "to-v1.36", UID: "op"}
	for _, change := range changes {
		change(u)
	}
	return u
}

func draining(u *refitv1alpha1.NodeUpgrade) {
	u.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: u.Spec.Sequence, Phase: refitv1alpha1.DrainDraining}
}

func trying(u *refitv1alpha1.NodeUpgrade) {
	u.Status.Trial = &refitv1alpha1.TrialStatus{Sequence: u.Spec.Sequence, Phase: refitv1alpha1.TrialRunning}
}
