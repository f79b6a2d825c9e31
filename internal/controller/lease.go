package controller

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// renewDeadline is how long a leader tries to renew its Lease, as controller-runtime's default.
const renewDeadline = 10 * time.Second

// Lease is the Lease of the leader. It is for work that must end with it, even in a process that
// was paused and wakes up before its timers do.
type Lease struct {
	deadline atomic.Int64 // in nanoseconds
}

// Context returns a context whose deadline moves with each renewal of the Lease. It has passed
// while these controllers do not lead.
func (l *Lease) Context(ctx context.Context) context.Context { return &leaseContext{ctx, l} }

type leaseContext struct {
	context.Context
	lease *Lease
}

func (c *leaseContext) Deadline() (time.Time, bool) {
	return time.Unix(0, c.lease.deadline.Load()), true
}

// lock returns the lock of leader election, which records each renewal.
func (l *Lease) lock(config *rest.Config, namespace, name string) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("cannot read the name of the host: %w", err)
	}
	identity := resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, name, identity, config, renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("cannot make the lock of leader election: %w", err)
	}
	l.deadline.Store(0)
	return &recordedLock{lock, l}, nil
}

type recordedLock struct {
	resourcelock.Interface
	lease *Lease
}

func (r *recordedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.record(record, func() error { return r.Interface.Create(ctx, record) })
}

func (r *recordedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return r.record(record, func() error { return r.Interface.Update(ctx, record) })
}

// record counts the Lease from before the write: others count it from when they see the write.
func (r *recordedLock) record(record resourcelock.LeaderElectionRecord, write func() error) error {
	started := time.Now()
	if record.HolderIdentity != r.Identity() { // released
		r.lease.deadline.Store(0)
		return write()
	}
	if err := write(); err != nil {
		return err
	}
	r.lease.deadline.Store(started.Add(time.Duration(record.LeaseDurationSeconds) * time.Second).UnixNano())
	return nil
}
