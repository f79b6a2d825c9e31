package install

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Reach is whether the API server can be reached during a wait.
type Reach struct {
	// Err is why the API server does not serve requests, nil if it does.
	Err error
	// Left is the time until the wait ends, zero if it has no end.
	Left time.Duration
}

// reach reports each change of whether the API server can be reached, once.
type reach struct {
	callbacks Callbacks
	down      bool
}

// observe takes the result of a request. An error at the end of the wait is that of the wait.
func (r *reach) observe(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if err != nil && !transient(err) {
		err = nil // the API server has responded
	}
	if down := err != nil; down == r.down {
		return
	}
	r.down = err != nil
	if r.callbacks.Reach == nil {
		return
	}
	change := Reach{Err: err}
	if end, has := ctx.Deadline(); has {
		change.Left = time.Until(end)
	}
	r.callbacks.Reach(change)
}

// failures are the last results of watches, of which informers return no errors.
type failures struct {
	mu   sync.Mutex
	errs map[any]error
}

func (f *failures) set(of any, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.errs == nil {
		f.errs = map[any]error{}
	}
	f.errs[of] = err
}

// any returns the error of a watch that fails, nil if none does.
func (f *failures) any() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, err := range f.errs {
		if err != nil && transient(err) {
			return err
		}
	}
	return nil
}

// observedWatch passes on the result of each request of a watch.
type observedWatch struct {
	*cache.ListWatch
	result func(error)
}

func (w *observedWatch) List(options metav1.ListOptions) (runtime.Object, error) {
	return w.ListWithContext(context.Background(), options)
}

func (w *observedWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	found, err := w.ListWatch.ListWithContext(ctx, options)
	w.result(err)
	return found, err
}

func (w *observedWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return w.WatchWithContext(context.Background(), options)
}

func (w *observedWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	events, err := w.ListWatch.WatchWithContext(ctx, options)
	w.result(err)
	return events, err
}
