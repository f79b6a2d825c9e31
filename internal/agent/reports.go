package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/report"
)

// lookEvery is how often the host is looked at unasked. Nothing is written unless a discrete fact changed.
const lookEvery = 30 * time.Minute

// reporter writes the NodeReport: at the start, when it is asked, after a work, and when a discrete fact changed.
type reporter struct {
	client api
	log    *slog.Logger
	gather func(context.Context) refitv1alpha1.NodeReportStatus

	mu      sync.Mutex
	request int64
	force   bool
	heard   bool // the object was seen, or seen not to be there
	wake    chan struct{}
}

func newReporter(a *Agent) *reporter {
	return &reporter{client: a.client, log: a.Log, force: true, wake: make(chan struct{}, 1), gather: a.facts}
}

// asked hears the controller's question.
func (r *reporter) asked(object *refitv1alpha1.NodeReport) {
	r.mu.Lock()
	r.request = max(r.request, object.Spec.Request)
	// Also what was answered already: a report that was begun before the question was known says that it answers none.
	unanswered := object.Status.Answered < r.request
	first := !r.heard
	r.heard = true
	r.mu.Unlock()
	if unanswered || first {
		r.again()
	}
}

// again asks for a report in any case.
func (r *reporter) again() {
	r.mu.Lock()
	r.force = true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *reporter) run(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	var last refitv1alpha1.NodeReportStatus
	// The first report waits a moment for the question that it may answer.
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
				r.log.Info("the report cannot be written now", "error", err)
				pause(ctx, wait)
				wait = min(2*wait, 30*time.Second)
				r.again()
				continue
			}
			last, wait = status, time.Second
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-look.C:
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
