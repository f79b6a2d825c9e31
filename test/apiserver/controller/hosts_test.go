//go:build apiserver

package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

// hosts control the simulated hosts: a test can block a step or make it fail.
type hosts struct {
	mu    sync.Mutex
	holds map[string]*hold // by node and step
	fails map[string]int   // remaining failures
	begun map[string]int   // starts of each step
	ill   map[string]bool  // nodes whose etcd member is down
	pace  func(ctx context.Context, begun int)
	steps int // started steps of all hosts

	takeBackup func(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus
}

// hold is a step that blocks until letGo is called.
type hold struct {
	reached, free chan struct{}
	once          sync.Once
}

func newHosts() *hosts {
	return &hosts{holds: map[string]*hold{}, fails: map[string]int{}, begun: map[string]int{}, ill: map[string]bool{}}
}

func (h *hosts) options() agents.Options {
	return agents.Options{Step: 2 * time.Millisecond, Fetch: 2 * time.Millisecond, BeforeStep: h.beforeStep, EditReport: h.editReport, TakeBackup: h.backUp}
}

// backUp takes a backup as the test wants it.
func (h *hosts) backUp(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
	h.mu.Lock()
	take := h.takeBackup
	h.mu.Unlock()
	if take == nil {
		now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
		out := refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupSucceeded}
		out.Uploaded, out.ReadBack = &now, &now
		return out
	}
	return take(ctx, node, ref)
}

// backsUp sets how hosts take backups.
func (h *hosts) backsUp(take func(ctx context.Context, node string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.takeBackup = take
}

// editReport reports unhealthy etcd members.
func (h *hosts) editReport(node string, facts *refitv1alpha1.NodeReportStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ill[node] {
		facts.Etcd.Healthy = false
	}
}

// setIll makes the etcd member of a node unhealthy, or healthy again.
func (h *hosts) setIll(node string, ill bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ill[node] = ill
}

var errSimulated = errors.New("simulated failure")

func (h *hosts) beforeStep(ctx context.Context, node, step string) error {
	at := node + "/" + step
	h.mu.Lock()
	h.begun[at]++
	h.steps++
	held, pace, steps := h.holds[at], h.pace, h.steps
	h.mu.Unlock()
	if pace != nil {
		pace(ctx, steps)
	}
	if held != nil {
		held.once.Do(func() { close(held.reached) })
		select {
		case <-ctx.Done():
		case <-held.free:
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fails[at] > 0 {
		h.fails[at]--
		return errSimulated
	}
	return nil
}

// hold blocks a step of a node until letGo is called.
func (h *hosts) hold(node, step string) *hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := &hold{reached: make(chan struct{}), free: make(chan struct{})}
	h.holds[node+"/"+step] = held
	return held
}

// fail makes a step of a node fail once.
func (h *hosts) fail(node, step string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fails[node+"/"+step]++
}

// began returns how many times a step of a node has started.
func (h *hosts) began(node, step string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun[node+"/"+step]
}

// letGo unblocks the step.
func (h *hold) letGo() { close(h.free) }

// comes waits until the step has started.
func (b *bed) comes(what string, h *hold) {
	b.t.Helper()
	select {
	case <-h.reached:
	case <-time.After(checkTimeout):
		b.t.Fatalf("%s was not reached", what)
	}
}
