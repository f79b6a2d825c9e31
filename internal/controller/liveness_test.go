package controller

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

var request = reconcile.Request{NamespacedName: types.NamespacedName{Name: "to-v1.36"}}

// probe is the answer to a liveness probe: the reason why it fails, empty if it succeeds.
func probe(t *testing.T, l *liveness) string {
	t.Helper()
	answer := httptest.NewRecorder()
	healthHandler(l.check, slog.New(slog.DiscardHandler)).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", http.NoBody))
	if failed := answer.Code != http.StatusOK; failed != (answer.Body.Len() > 0) {
		t.Errorf("code %d with the body %q", answer.Code, answer.Body)
	}
	return strings.TrimSpace(answer.Body.String())
}

func expectProbe(t *testing.T, l *liveness, want string) {
	t.Helper()
	if got := probe(t, l); got != want {
		t.Errorf("the probe answers %q, want %q", got, want)
	}
}

func newQueue(l *liveness) requestQueue {
	return l.newQueue(logr.Discard())("nodeupgrade", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
}

func TestAReconcileThatBlocksFailsTheLivenessProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, release := &liveness{}, make(chan struct{})
		blocks := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			<-release
			return reconcile.Result{}, nil
		})
		skip := true
		c, err := ctrlcontroller.NewUnmanaged("clusterupgrade", ctrlcontroller.Options{
			Reconciler: blocks, NewQueue: l.newQueue(logr.Discard()), SkipNameValidation: &skip,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Watch(source.Func(func(_ context.Context, q requestQueue) error {
			q.Add(request)
			return nil
		})); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Start(ctx) }()
		synctest.Wait()
		time.Sleep(wedgedAfter - time.Second)
		expectProbe(t, l, "")
		time.Sleep(time.Second)
		expectProbe(t, l, "controller clusterupgrade: the reconcile of to-v1.36 has been running for 5m0s")
		close(release)
		synctest.Wait()
		expectProbe(t, l, "")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestRequestsThatNoWorkerTakesFailTheLivenessProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &liveness{}
		q := newQueue(l)
		defer q.ShutDown()
		q.Add(request)
		synctest.Wait()
		expectProbe(t, l, "")
		time.Sleep(wedgedAfter)
		expectProbe(t, l, "controller nodeupgrade: 1 requests are pending and no worker has taken one for 5m0s")
		if got, shutdown := q.Get(); got != request || shutdown {
			t.Fatalf("the queue has %v", got)
		}
		expectProbe(t, l, "")
		q.Done(request)
	})
}

func TestAControllerWithoutWorkIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &liveness{}
		q := newQueue(l)
		defer q.ShutDown()
		q.AddAfter(request, 24*time.Hour)
		expectProbe(t, l, "")
		time.Sleep(23 * time.Hour)
		expectProbe(t, l, "")
	})
}

// TestNewWorkAfterALongSilenceIsNoWedge has a request arrive just before a probe, hours after the
// last one was taken.
func TestNewWorkAfterALongSilenceIsNoWedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &liveness{}
		q := newQueue(l)
		defer q.ShutDown()
		for range 3 {
			q.Add(request)
			synctest.Wait()
			expectProbe(t, l, "")
			got, _ := q.Get()
			q.Done(got)
			time.Sleep(24 * time.Hour)
		}
	})
}

func TestAProcessThatLostTheLeadIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &liveness{}
		expectProbe(t, l, "")
		q := newQueue(l)
		q.Add(request)
		if _, shutdown := q.Get(); shutdown {
			t.Fatal("the queue is shut down")
		}
		q.ShutDown()
		time.Sleep(2 * wedgedAfter)
		expectProbe(t, l, "")
	})
}
