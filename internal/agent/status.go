package agent

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// minWriteInterval is the minimum time between two writes of the same phase.
const minWriteInterval = 2 * time.Second

// statusWriter writes the status of the NodeUpgrade. It writes only changes, always the latest
// state, and retries while the API is unavailable.
type statusWriter struct {
	client api
	log    *slog.Logger
	boot   string
	agent  string

	mu      sync.Mutex
	status  refitv1alpha1.NodeUpgradeStatus
	known   bool                            // there is something to report
	backup  *refitv1alpha1.NodeBackupStatus // the last one, nil if there was none
	refusal *node.Refusal
	waiting string
	// unpermitted is set while the wait is for permission to change the host.
	unpermitted bool
	// unresumed is the failure of a host that must not be reported as unchanged; nil if it may.
	unresumed *node.Failure
	// conditions are the ones in the cluster, so that their transition times survive a restart.
	conditions []metav1.Condition
	// newest is the latest order in the cluster, and observed the generation that status is about.
	newest   struct{ sequence, generation int64 }
	observed int64
	// stale is set if the cluster has another status than the last written one, as after a restore
	// from a backup.
	stale bool
	wake  chan struct{}

	published published // what the socket shows beyond the status
}

func newStatusWriter(log *slog.Logger, boot, version string) *statusWriter {
	return &statusWriter{log: log, boot: boot, agent: refitv1alpha1.Clip(version, refitv1alpha1.MaxAgentVersion), wake: make(chan struct{}, 1)}
}

func (w *statusWriter) change(f func()) {
	w.mu.Lock()
	f()
	w.known = true
	w.publish()
	w.mu.Unlock()
	w.trigger()
}

func (w *statusWriter) trigger() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// setState sets the status from the journal.
func (w *statusWriter) setState(state *node.State) {
	w.change(func() {
		w.status = state.Status()
		w.published.state = state
		node.CorrectUnresumed(&w.status, w.unresumed, state.FinishedAt)
	})
}

// setResult sets the status of an order that did not lead to an upgrade.
func (w *statusWriter) setResult(a *node.Result) {
	if a == nil {
		return
	}
	w.change(func() {
		w.status = a.Status()
		node.CorrectUnresumed(&w.status, w.unresumed, a.At)
	})
}

// setHost sets what the host remembers. The controllers uncordon a node that was rolled back, and
// take an idle one for unchanged, so an upgrade that was not resumed must be reported.
func (w *statusWriter) setHost(host node.HostState) {
	w.mu.Lock()
	w.published.host, w.unresumed = host, host.Unresumed
	w.mu.Unlock()
}

// observe compares the status in the cluster with the written one.
func (w *statusWriter) observe(u *refitv1alpha1.NodeUpgrade) {
	w.mu.Lock()
	w.newest.sequence, w.newest.generation = u.Spec.Sequence, u.Generation
	if w.conditions == nil {
		w.conditions, w.observed = slices.Clone(u.Status.Conditions), u.Status.ObservedGeneration
	}
	w.stale = w.known && (!sameBackup(u.Status.Backup, w.backup) ||
		u.Status.ObservedSequence != w.status.ObservedSequence || u.Status.Phase != w.status.Phase || u.Status.AgentVersion != w.agent ||
		meta.IsStatusConditionPresentAndEqual(u.Status.Conditions, refitv1alpha1.ConditionReady, metav1.ConditionUnknown))
	stale := w.stale
	w.mu.Unlock()
	if stale {
		w.trigger()
	}
}

// setWaiting sets the reason why a step waits, and logs it: remedies refer to the agent's log.
func (w *statusWriter) setWaiting(what string) { w.wait(what, false) }

// setUnpermitted sets why the first change of the host is not permitted.
func (w *statusWriter) setUnpermitted(why string) { w.wait(why, true) }

func (w *statusWriter) wait(what string, unpermitted bool) {
	w.mu.Lock()
	changed := w.waiting != what || w.unpermitted != unpermitted
	w.waiting, w.unpermitted = what, unpermitted
	if changed {
		w.publish()
	}
	w.mu.Unlock()
	if !changed {
		return
	}
	if what != "" {
		w.log.Info("the step is waiting", "reason", what)
	}
	w.trigger()
}

func (w *statusWriter) setRefusal(refusal *node.Refusal) {
	w.change(func() { w.refusal = refusal })
}

func (w *statusWriter) clearRefusal() { w.change(func() { w.refusal = nil }) }

// broken sets a failure that is not in the journal, because the journal itself failed.
func (w *statusWriter) broken(f *node.Failure) {
	w.change(func() {
		w.status.Phase = refitv1alpha1.NodeFailed
		w.status.Error = &refitv1alpha1.NodeError{
			Class: f.Class, Reason: f.Reason, Message: f.Text(), Remedy: refitv1alpha1.Clip(f.Remedy, refitv1alpha1.MaxMessage),
			At: metav1.NewTime(time.Now().UTC().Truncate(time.Second)),
		}
	})
}

// compose returns the whole status.
func (w *statusWriter) compose() (status refitv1alpha1.NodeUpgradeStatus, known, stale bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stale, w.stale = w.stale, false
	out := w.status
	out.BootID, out.AgentVersion, out.Backup = w.boot, w.agent, w.backup
	if w.refusal != nil || out.ObservedSequence == w.newest.sequence {
		w.observed = w.newest.generation
	}
	out.ObservedGeneration = w.observed
	w.conditions = node.Conditions(w.conditions, node.Observed{
		Status: &out, Generation: w.observed, Refusal: w.refusal, Waiting: w.waiting, Unpermitted: w.unpermitted,
	}, time.Now())
	out.Conditions = slices.Clone(w.conditions)
	return out, w.known, stale
}

// run writes until the context ends.
func (w *statusWriter) run(ctx context.Context) {
	var last refitv1alpha1.NodeUpgradeStatus
	for wait := time.Second; ; {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		status, known, stale := w.compose()
		if !known || (!stale && reflect.DeepEqual(status, last)) {
			continue
		}
		err := w.client.ApplyUpgradeStatus(ctx, w.client.NodeName(), status)
		if err != nil {
			last = refitv1alpha1.NodeUpgradeStatus{} // the cluster's status is not known: write it again
		}
		w.setReachable(err == nil || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsConflict(err))
		switch {
		case err == nil:
			last, wait = status, time.Second
			w.throttle(ctx, status)
		case apierrors.IsNotFound(err):
			w.log.Info("the NodeUpgrade does not exist; not writing its status", "phase", status.Phase)
		case apierrors.IsInvalid(err):
			w.log.Error("the API rejected the status", "error", err)
			pause(ctx, 10*time.Second)
			w.trigger()
		default:
			w.log.Info("cannot write the status; retrying", "error", err)
			pause(ctx, wait)
			wait = min(2*wait, 15*time.Second)
			w.trigger()
		}
	}
}

// throttle waits after a write, so that progress needs few writes. A change of the phase ends the
// wait, because others wait for it.
func (w *statusWriter) throttle(ctx context.Context, written refitv1alpha1.NodeUpgradeStatus) {
	over := time.NewTimer(minWriteInterval)
	defer over.Stop()
	defer w.trigger() // for changes in the meantime
	for !w.phaseChanged(written) {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			return
		case <-w.wake:
		}
	}
}

// phaseChanged reports whether the phase or the order differs from the written status.
func (w *statusWriter) phaseChanged(written refitv1alpha1.NodeUpgradeStatus) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status.Phase != written.Phase || w.status.ObservedSequence != written.ObservedSequence || !sameBackup(w.backup, written.Backup)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
