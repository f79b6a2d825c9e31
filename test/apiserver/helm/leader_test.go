//go:build apiserver

package helm

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
)

// TestAPausedLeader pauses a leader after writes of a wave. The next leader completes the wave;
// then the former one wakes up.
func TestAPausedLeader(t *testing.T) {
	t.Parallel()
	l := installed(t, apiserver.Shared(t, apiserver.Options{}))
	steps := l.upgrade()
	l.run(steps[:2], &apiserver.Killer{})
	counted := &apiserver.Killer{}
	l.run(steps[2:], counted)
	pauses, lateWrites := 0, int64(0)
	for at := 1; at < counted.Writes(); at += 2 * every(3) {
		l.run(l.rollback(), &apiserver.Killer{})
		steps := l.upgrade()
		l.run(steps[:2], &apiserver.Killer{})
		p := &pauser{at: int64(at), paused: make(chan struct{}), wake: make(chan struct{})}
		lease, lose := losable(t, pauses%2 == 0)
		former := helm.New(lease, p.config(l.config), l.release, slog.DiscardHandler)
		ended := make(chan error, 1)
		go func() { ended <- steps[2].run(bounded(t), former) }()
		<-p.paused
		lose()
		l.run(steps[2:], &apiserver.Killer{})
		before := l.outcome()
		writes := p.writes.Load()
		close(p.wake)
		if err := <-ended; !errors.Is(err, helm.ErrLeaseLost) && at != counted.Writes()-1 {
			t.Errorf("paused at write %d: the former leader returned %v", at, err)
		}
		late := p.writes.Load() - writes
		if late != 0 {
			t.Errorf("paused at write %d: the former leader made %d writes after it woke up", at, late)
		}
		lateWrites += late
		if before != l.outcome() {
			t.Errorf("paused at write %d: the former leader changed the release", at)
		}
		pauses++
	}
	report(t, "helm_paused_leaders", float64(pauses), "leaders")
	report(t, "helm_writes_of_former_leaders", float64(lateWrites), "writes")
}

// losable returns a lease and a function that ends it: at once, or only by its deadline, as for a
// process that wakes up and runs before its timers do.
func losable(t *testing.T, byDeadline bool) (context.Context, func()) {
	t.Helper()
	if !byDeadline {
		return context.WithCancel(t.Context())
	}
	lease := &movingLease{Context: t.Context()}
	lease.deadline.Store(time.Now().Add(time.Hour).UnixNano())
	return lease, func() { lease.deadline.Store(time.Now().UnixNano()) }
}

// A movingLease has a deadline that moves with each renewal, and no timer.
type movingLease struct {
	context.Context
	deadline atomic.Int64
}

func (l *movingLease) Deadline() (time.Time, bool) { return time.Unix(0, l.deadline.Load()), true }

// A pauser is the transport of a process that is paused after one of its writes.
type pauser struct {
	at           int64
	writes       atomic.Int64
	paused, wake chan struct{}
}

func (p *pauser) config(config *rest.Config) *rest.Config {
	copied := rest.CopyConfig(config)
	copied.Wrap(func(next http.RoundTripper) http.RoundTripper { return &pausedTransport{p, next} })
	return copied
}

type pausedTransport struct {
	*pauser
	next http.RoundTripper
}

func (t *pausedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	write := request.Method != http.MethodGet && request.Method != http.MethodHead
	if !write || t.writes.Add(1) != t.at {
		return t.next.RoundTrip(request)
	}
	response, err := t.next.RoundTrip(request)
	close(t.paused)
	<-t.wake
	return response, err
}
