//go:build apiserver

package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

// hosts are what a test does to the hosts: hold a step up, or let it fail.
type hosts struct {
	mu    sync.Mutex
	holds map[string]*hold // by node and step
	fails map[string]int   // how many times more
	begun map[string]int   // steps that began
	ill   map[string]bool  // nodes whose etcd member is down
	pace  func(ctx context.Context, begun int)
	steps int // that began on all hosts together
}

// hold is a step that does not go on until it is let go of.
type hold struct {
	reached, free chan struct{}
	once          sync.Once
}

func newHosts() *hosts {
	return &hosts{holds: map[string]*hold{}, fails: map[string]int{}, begun: map[string]int{}, ill: map[string]bool{}}
}

func (h *hosts) options() agents.Options {
	return agents.Options{Step: 2 * time.Millisecond, Fetch: 2 * time.Millisecond, Meet: h.meet, Tell: h.tell}
}

// tell lets etcd members be ill.
func (h *hosts) tell(node string, facts *refitv1alpha1.NodeReportStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ill[node] {
		facts.Etcd.Healthy = false
	}
}

// setIll lets the etcd member of a node be ill, or well again.
func (h *hosts) setIll(node string, ill bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ill[node] = ill
}

var errMadeUp = errors.New("the test says so")

func (h *hosts) meet(ctx context.Context, node, step string) error {
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
		return errMadeUp
	}
	return nil
}

// hold lets a step of a node hang. What it returns lets it go on.
func (h *hosts) hold(node, step string) *hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := &hold{reached: make(chan struct{}), free: make(chan struct{})}
	h.holds[node+"/"+step] = held
	return held
}

// fail lets a step of a node fail once.
func (h *hosts) fail(node, step string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fails[node+"/"+step]++
}

// began is how many times a step of a node began.
func (h *hosts) began(node, step string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun[node+"/"+step]
}

// letGo lets a step that hangs go on.
func (h *hold) letGo() { close(h.free) }

// comes waits until the step has begun.
func (b *bed) comes(what string, h *hold) {
	b.t.Helper()
	select {
	case <-h.reached:
	case <-time.After(patience):
		b.t.Fatalf("%s was not reached", what)
	}
}
