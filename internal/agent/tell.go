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

// calm is the least time between two writes that tell of progress only.
const calm = 2 * time.Second

// teller keeps the status of the NodeUpgrade what it should be. It writes when something changed, the newest state only, and goes on trying while the API is
// away.
type teller struct {
	client api
	log    *slog.Logger
	boot   string
	agent  string

	mu      sync.Mutex
	status  refitv1alpha1.NodeUpgradeStatus
	known   bool // there is something to tell
	refusal *node.Refusal
	waiting string
	// conditions are the ones in the cluster, so that their transition times survive a restart.
	conditions []metav1.Condition
	// newest is the order that the cluster has, and observed the generation that status is about.
	newest   struct{ sequence, generation int64 }
	observed int64
	// stale says that the cluster has something else than what was told last, as after a restore from a backup.
	stale bool
	wake  chan struct{}
}

func newTeller(log *slog.Logger, boot, version string) *teller {
	return &teller{log: log, boot: boot, agent: version, wake: make(chan struct{}, 1)}
}

func (t *teller) change(f func()) {
	t.mu.Lock()
	f()
	t.known = true
	t.mu.Unlock()
	t.again()
}

func (t *teller) again() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// tell is what the journal says.
func (t *teller) tell(state *node.State) { t.change(func() { t.status = state.Status() }) }

// answer is a status without any work.
func (t *teller) answer(a *node.Result) {
	if a == nil {
		return
	}
	t.change(func() {
		t.status = refitv1alpha1.NodeUpgradeStatus{ObservedSequence: a.Sequence, Phase: a.Phase}
		if f := a.Failure; f != nil {
			at := metav1.NewTime(a.At.UTC().Truncate(time.Second))
			t.status.CompletionTime = &at
			t.status.Error = &refitv1alpha1.NodeError{Class: f.Class, Reason: f.Reason, Message: f.Text(), Remedy: f.Remedy, LogTail: f.LogTail, At: at}
		}
	})
}

// seen compares what the cluster has with what was told.
func (t *teller) seen(u *refitv1alpha1.NodeUpgrade) {
	t.mu.Lock()
	t.newest.sequence, t.newest.generation = u.Spec.Sequence, u.Generation
	if t.conditions == nil {
		t.conditions, t.observed = slices.Clone(u.Status.Conditions), u.Status.ObservedGeneration
	}
	t.stale = t.known && (u.Status.ObservedSequence != t.status.ObservedSequence || u.Status.Phase != t.status.Phase || u.Status.AgentVersion != t.agent ||
		meta.IsStatusConditionPresentAndEqual(u.Status.Conditions, refitv1alpha1.ConditionReady, metav1.ConditionUnknown))
	stale := t.stale
	t.mu.Unlock()
	if stale {
		t.again()
	}
}

// say is what a step waits for.
func (t *teller) say(what string) {
	t.mu.Lock()
	changed := t.waiting != what
	t.waiting = what
	t.mu.Unlock()
	if changed {
		t.again()
	}
}

func (t *teller) refuse(refusal *node.Refusal) {
	t.change(func() { t.refusal = refusal })
}

func (t *teller) accepted() { t.change(func() { t.refusal = nil }) }

// broken is a failure that no journal holds, because the journal itself failed.
func (t *teller) broken(f *node.Failure) {
	t.change(func() {
		t.status.Phase = refitv1alpha1.NodeFailed
		t.status.Error = &refitv1alpha1.NodeError{
			Class: f.Class, Reason: f.Reason, Message: f.Text(), Remedy: refitv1alpha1.Clip(f.Remedy, refitv1alpha1.MaxMessage),
			At: metav1.NewTime(time.Now().UTC().Truncate(time.Second)),
		}
	})
}

// compose is the whole status.
func (t *teller) compose() (status refitv1alpha1.NodeUpgradeStatus, known, stale bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stale, t.stale = t.stale, false
	out := t.status
	out.BootID, out.AgentVersion = t.boot, t.agent
	if t.refusal != nil || out.ObservedSequence == t.newest.sequence {
		t.observed = t.newest.generation
	}
	out.ObservedGeneration = t.observed
	t.conditions = node.Conditions(t.conditions, node.Observed{
		Status: &out, Generation: t.observed, Refusal: t.refusal, Waiting: t.waiting,
	}, time.Now())
	out.Conditions = slices.Clone(t.conditions)
	return out, t.known, stale
}

// run writes until the context ends.
func (t *teller) run(ctx context.Context) {
	var last refitv1alpha1.NodeUpgradeStatus
	for wait := time.Second; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		}
		status, known, stale := t.compose()
		if !known || (!stale && reflect.DeepEqual(status, last)) {
			continue
		}
		err := t.client.ApplyUpgradeStatus(ctx, t.client.NodeName(), status)
		switch {
		case err == nil:
			last, wait = status, time.Second
			t.rest(ctx, status)
		case apierrors.IsNotFound(err):
			t.log.Info("there is no NodeUpgrade to tell of the work", "phase", status.Phase)
		case apierrors.IsInvalid(err):
			t.log.Error("the status was refused", "error", err)
			pause(ctx, 10*time.Second)
			t.again()
		default:
			t.log.Info("the status cannot be written now", "error", err)
			pause(ctx, wait)
			wait = min(2*wait, 15*time.Second)
			t.again()
		}
	}
}

// rest lets a while pass after a write, so that progress is told of in few of them. Another phase is more than progress: others wait for it.
func (t *teller) rest(ctx context.Context, told refitv1alpha1.NodeUpgradeStatus) {
	over := time.NewTimer(calm)
	defer over.Stop()
	defer t.again() // for what was heard meanwhile
	for !t.another(told) {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			return
		case <-t.wake:
		}
	}
}

// another says whether the work is in another phase, or another order's, than was told.
func (t *teller) another(told refitv1alpha1.NodeUpgradeStatus) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status.Phase != told.Phase || t.status.ObservedSequence != told.ObservedSequence
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
