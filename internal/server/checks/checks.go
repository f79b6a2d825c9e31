package checks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	// atOnce is the number of checks that run at the same time: each lists all pods.
	atOnce = 2
	// deadline is the maximum duration of a check.
	deadline = 5 * time.Minute
	// keepFor is how long a check is kept after its start.
	keepFor = time.Hour
	// mostOfOwner and most bound the memory: the report on 5,000 nodes has more than a megabyte.
	mostOfOwner = 4
	most        = 16
)

// ErrBusy is the error of a check that cannot run since others are running.
var ErrBusy = errors.New("too many checks are running")

// ErrTimeout is the cause of a check that has exceeded its deadline.
var ErrTimeout = errors.New("the check has exceeded its deadline")

// PanicError is the error of a check that panicked.
type PanicError struct{ Cause, Stack string }

// Error implements error.
func (e *PanicError) Error() string { return "the check panicked: " + e.Cause }

// Check is a copy of the state of a check.
type Check struct {
	ID    string
	Spec  refitv1alpha1.ClusterUpgradeSpec
	Start time.Time
	// Completion is zero while the check is running.
	Completion time.Time
	Expire     time.Time
	Part       string // that is being read
	// Report is the result. Err is why there is none.
	Report *cliv1alpha1.Report
	Err    error
}

// Complete is true once the check has a report or an error.
func (c *Check) Complete() bool { return !c.Completion.IsZero() }

// Run is what a check does. It reports the part of the cluster that it reads.
type Run func(ctx context.Context, part func(string)) (*cliv1alpha1.Report, error)

// Registry has the checks of all owners. Its methods are safe for concurrent use.
type Registry struct {
	now   func() time.Time
	slots chan struct{}

	base    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	all    []*entry // the oldest first
}

type entry struct {
	owner string
	Check // guarded by the mutex of the registry
	done  chan struct{}
}

// New returns a registry without checks.
func New(now func() time.Time) *Registry {
	r := &Registry{now: now, slots: make(chan struct{}, atOnce)}
	r.base, r.stop = context.WithCancel(context.Background())
	return r
}

// Close ends the running checks.
func (r *Registry) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	r.running.Wait()
}

// Start starts a check, which continues after the context of the caller has ended. It fails at once
// if too many are running.
func (r *Registry) Start(owner string, spec refitv1alpha1.ClusterUpgradeSpec, run Run) (Check, error) {
	select {
	case r.slots <- struct{}{}:
		return r.start(owner, spec, run)
	default:
		return Check{}, ErrBusy
	}
}

// StartWhenFree starts a check as soon as others permit it, before the context ends.
func (r *Registry) StartWhenFree(ctx context.Context, owner string, spec refitv1alpha1.ClusterUpgradeSpec, run Run) (Check, error) {
	select {
	case r.slots <- struct{}{}:
		return r.start(owner, spec, run)
	case <-ctx.Done():
		return Check{}, ErrBusy
	}
}

// start starts a check that has a slot.
func (r *Registry) start(owner string, spec refitv1alpha1.ClusterUpgradeSpec, run Run) (Check, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		<-r.slots
		return Check{}, context.Canceled
	}
	now := r.now()
	e := &entry{owner: owner, done: make(chan struct{})}
	e.Check = Check{ID: rand.Text(), Spec: spec, Start: now, Expire: now.Add(keepFor)}
	r.forget(now, owner)
	r.all = append(r.all, e)
	r.running.Go(func() { r.run(e, run) })
	return e.Check, nil
}

func (r *Registry) run(e *entry, run Run) {
	ctx, cancel := context.WithTimeoutCause(r.base, deadline, ErrTimeout)
	defer cancel()
	report, err := recovered(ctx, run, func(part string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		e.Part = part
	})
	if err != nil && ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	r.mu.Lock()
	e.Report, e.Err, e.Part, e.Completion = report, err, "", r.now()
	r.mu.Unlock()
	<-r.slots
	close(e.done)
}

// recovered calls a function. Its panic would end the server, which could not report an outage any
// more.
func recovered(ctx context.Context, run Run, part func(string)) (report *cliv1alpha1.Report, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			report, err = nil, &PanicError{Cause: fmt.Sprint(cause), Stack: string(debug.Stack())}
		}
	}()
	return run(ctx, part)
}

// forget drops the checks that have expired, and the oldest complete ones where there are too many,
// so that another one of the owner fits in.
func (r *Registry) forget(now time.Time, owner string) {
	r.all = slices.DeleteFunc(r.all, func(e *entry) bool { return e.Complete() && !now.Before(e.Expire) })
	ofOwner := 0
	for _, e := range r.all {
		if e.owner == owner {
			ofOwner++
		}
	}
	r.drop(ofOwner-mostOfOwner+1, func(e *entry) bool { return e.owner == owner })
	r.drop(len(r.all)-most+1, func(*entry) bool { return true })
}

// drop drops the oldest complete checks, at most n.
func (r *Registry) drop(n int, which func(*entry) bool) {
	r.all = slices.DeleteFunc(r.all, func(e *entry) bool {
		if n <= 0 || !e.Complete() || !which(e) {
			return false
		}
		n--
		return true
	})
}

// Get returns a check of an owner.
func (r *Registry) Get(owner, id string) (Check, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.find(owner, id)
	if e == nil {
		return Check{}, false
	}
	return e.Check, true
}

func (r *Registry) find(owner, id string) *entry {
	now := r.now()
	for _, e := range r.all {
		if e.ID == id && e.owner == owner && (now.Before(e.Expire) || !e.Complete()) {
			return e
		}
	}
	return nil
}

// Wait waits until a check is complete or the context ends, and returns its state.
func (r *Registry) Wait(ctx context.Context, owner, id string) (Check, bool) {
	r.mu.Lock()
	e := r.find(owner, id)
	r.mu.Unlock()
	if e == nil {
		return Check{}, false
	}
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.Check, true
}
