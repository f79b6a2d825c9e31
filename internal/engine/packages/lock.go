package packages

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// lockInterval is the time between two attempts: the kernel has no wait with a deadline for this
// kind of lock.
const lockInterval = 250 * time.Millisecond

// LockTimeout bounds the wait of one call for another package manager. Hold waits for longer.
const LockTimeout = time.Minute

// database is the database of a package manager as this process uses it. The kernel's locks belong
// to the process and not to the caller, and end when the process closes any descriptor of the file.
type database struct {
	gate chan struct{} // admits one caller at a time
	held *heldLock     // what Hold has locked, or nil; guarded by the gate
}

// heldLock is a lock that this process holds.
type heldLock struct {
	file    *os.File
	release func()
}

var databases sync.Map

// guard locks the database of one package manager.
type guard struct {
	manager string // for messages
	key     string // a path of the database
	timeout time.Duration
	// take waits for the lock and takes it.
	take func(ctx context.Context, waiting func(string)) (*heldLock, error)
	// settle waits for a run that a killed agent left behind, once the lock is held.
	settle func(ctx context.Context, waiting func(string)) error
	// locked is the failure of a wait for a process that took too long. Nothing was changed, so it
	// rolls nothing back.
	locked func(ctx context.Context, pid int) error
}

// enter waits until no other caller of this process uses the database.
func (g guard) enter(ctx context.Context) (*database, error) {
	known, _ := databases.LoadOrStore(g.key, &database{gate: make(chan struct{}, 1)})
	db := known.(*database) //nolint:errcheck,forcetypeassert // nothing else is stored
	select {
	case db.gate <- struct{}{}:
		return db, nil
	case <-ctx.Done():
		return nil, g.locked(ctx, os.Getpid())
	}
}

func (db *database) leave() { <-db.gate }

// lock locks the database for one call.
func (g guard) lock(ctx context.Context) (held *os.File, release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	db, err := g.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	if db.held != nil {
		if err := g.settle(ctx, func(string) {}); err != nil {
			db.leave()
			return nil, nil, err
		}
		return db.held.file, db.leave, nil
	}
	taken, err := g.take(ctx, func(string) {})
	if err != nil {
		db.leave()
		return nil, nil, err
	}
	return taken.file, func() {
		taken.release()
		db.leave()
	}, nil
}

// hold keeps the lock between calls.
func (g guard) hold(ctx context.Context, waiting func(reason string)) error {
	db, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer db.leave()
	if db.held == nil {
		db.held, err = g.take(ctx, waiting)
	}
	return err
}

// release releases what hold has locked.
func (g guard) release() {
	db, err := g.enter(context.Background())
	if err != nil {
		return
	}
	defer db.leave()
	if db.held != nil {
		db.held.release()
		db.held = nil
	}
}

// wait tries until no process holds the lock.
func (g guard) wait(ctx context.Context, waiting func(string), try func() (pid int, err error)) error {
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		pid, err := try()
		if err != nil || pid == 0 {
			return err
		}
		waiting("waiting for " + process(pid) + " to release the lock of " + g.manager)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return g.locked(ctx, pid)
		}
	}
}

// process describes the holder of a lock.
func process(pid int) string {
	if pid <= 0 {
		return "another process"
	}
	who := fmt.Sprintf("process %d", pid)
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		who += " (" + strings.TrimSpace(string(comm)) + ")"
	}
	return who
}
