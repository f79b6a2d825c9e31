package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/report"
)

// gatherInterval is the interval of unrequested reports. They are written only if a discrete fact
// changed.
const gatherInterval = 30 * time.Minute

// reporter writes the NodeReport: at the start, on request, after an upgrade, and when a discrete
// fact changes.
type reporter struct {
	client api
	log    *slog.Logger
	gather func(context.Context) refitv1alpha1.NodeReportStatus

	mu       sync.Mutex
	request  int64
	force    bool
	observed bool // whether the object exists is known
	wake     chan struct{}
}

func newReporter(a *Agent) *reporter {
	return &reporter{client: a.client, log: a.Log, force: true, wake: make(chan struct{}, 1), gather: a.facts}
}

// requested handles a request of the controller.
func (r *reporter) requested(object *refitv1alpha1.NodeReport) {
	r.mu.Lock()
	r.request = max(r.request, object.Spec.Request)
	// A report that started before the request was known has no request number, so compare again.
	unanswered := object.Status.Answered < r.request
	first := !r.observed
	r.observed = true
	r.mu.Unlock()
	if unanswered || first {
		r.trigger()
	}
}

// trigger requests a report unconditionally.
func (r *reporter) trigger() {
	r.mu.Lock()
	r.force = true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reporter) run(ctx context.Context) {
	ticker := time.NewTicker(gatherInterval)
	defer ticker.Stop()
	var last refitv1alpha1.NodeReportStatus
	// The first report waits briefly for a request that it may answer.
	select {
	case <-ctx.Done():
		return
	case <-r.wake:
	case <-time.After(5 * time.Second):
	}
	for wait := time.Second; ; {
		r.mu.Lock()
		force, request := r.force, r.request
		r.force = false
		r.mu.Unlock()
		status := r.gather(ctx)
		status.Answered = request
		if force || report.Changed(last, status) {
			if err := r.write(ctx, status); err != nil {
				if ctx.Err() != nil {
					return
				}
				r.log.Info("cannot write the NodeReport; retrying", "error", err)
				pause(ctx, wait)
				wait = min(2*wait, 30*time.Second)
				r.trigger()
				continue
			}
			last, wait = status, time.Second
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-ticker.C:
		}
	}
}

func (r *reporter) write(ctx context.Context, status refitv1alpha1.NodeReportStatus) error {
	self, err := r.client.Node(ctx)
	if err != nil {
		return err
	}
	if err := r.client.EnsureReport(ctx, self); err != nil {
		return err
	}
	status.NodeUID = self.UID
	return r.client.ApplyReportStatus(ctx, status)
}
