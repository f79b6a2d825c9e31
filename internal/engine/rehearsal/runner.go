package rehearsal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// Units starts and observes processes; internal/engine/transient implements it.
type Units interface {
	Start(ctx context.Context, u sandbox.Unit) error
	Outcome(ctx context.Context, name string) (sandbox.Outcome, error)
	Wait(ctx context.Context, name string) (sandbox.Outcome, error)
	Stop(ctx context.Context, name string) error
	Names(ctx context.Context, prefix string) ([]string, error)
}

// Runner runs drills and rehearsals, one at a time on a host.
type Runner struct {
	Units Units
	// Dir is the scratch directory, such as /var/lib/refit/rehearsal. It is removed afterwards,
	// with everything in it.
	Dir string
	// Agent is the static binary with the subcommand that sends the requests.
	Agent string
	// Ctr is the client of containerd, empty if the host has none, and Socket its socket.
	Ctr, Socket string
	// Umount unmounts images on a host that has lost ctr.
	Umount string
	// Available returns the memory that the host can give to new processes.
	Available func() (uint64, error)
	Timeouts  Timeouts
	Observer
}

// Observer follows a drill or a rehearsal, in the goroutine that runs it. Each function may be nil.
type Observer struct {
	// Progress is called before each step.
	Progress func(Progress)
	// Drilled is called after the drill and before the first hop. Its error ends the rehearsal.
	Drilled func(rehearsal.Figures) error
	// Rehearsed is called after each hop.
	Rehearsed func(HopResult)
}

// Progress is what a drill or a rehearsal does, and what it waits for.
type Progress struct {
	Hop     string // the version of the hop; empty before the first
	Message string
	Timeout time.Duration
}

// Timeouts bound the parts of a rehearsal. systemd enforces them, too.
type Timeouts struct {
	Mount   time.Duration // of an image
	Restore time.Duration // of the backup, and of reading its figures
	Etcd    time.Duration // until etcd serves and has hashed its keys
	Ready   time.Duration // until all readiness checks pass
	List    time.Duration // of all resources
}

// DefaultTimeouts suffice for a database of 8 GB on a slow disk.
func DefaultTimeouts() Timeouts {
	return Timeouts{Mount: 2 * time.Minute, Restore: 20 * time.Minute, Etcd: 10 * time.Minute, Ready: 3 * time.Minute, List: 30 * time.Minute}
}

// prefix begins the names of all units, so that leftovers are found.
const prefix = "refit-rehearsal-"

// Names of units.
const (
	unitMount     = prefix + "mount"
	unitUnmount   = prefix + "unmount"
	unitStatus    = prefix + "status"
	unitRestore   = prefix + "restore"
	unitRead      = prefix + "read"
	unitEtcd      = prefix + "etcd"
	unitAPIServer = prefix + "apiserver"
	unitRequests  = prefix + "requests"
)

func (o *Observer) progress(hop, message string, timeout time.Duration) {
	if o.Progress != nil {
		o.Progress(Progress{hop, message, timeout})
	}
}

func (o *Observer) drilled(f rehearsal.Figures) error {
	if o.Drilled == nil {
		return nil
	}
	return o.Drilled(f)
}

func (o *Observer) rehearsed(h HopResult) {
	if o.Rehearsed != nil {
		o.Rehearsed(h)
	}
}

func (r *Runner) file(name ...string) string {
	return filepath.Join(append([]string{r.Dir}, name...)...)
}

// task runs a unit until it ends, and returns its outcome. The unit is removed afterwards.
func (r *Runner) task(ctx context.Context, u sandbox.Unit) (sandbox.Outcome, error) {
	u.Kind = sandbox.Task
	u.Output, u.Log = r.file(u.Name+".out"), r.file(u.Name+".log")
	ctx, cancel := context.WithTimeoutCause(ctx, u.Bounds.Time+10*time.Second, fmt.Errorf("%s did not end within %s", u.Name, u.Bounds.Time))
	defer cancel()
	if err := r.fresh(u); err != nil {
		return sandbox.Outcome{}, err
	}
	if err := r.Units.Start(ctx, u); err != nil {
		return sandbox.Outcome{}, err
	}
	outcome, err := r.Units.Wait(ctx, u.Name)
	return outcome, joinCleanup(ctx, err, func(ctx context.Context) error { return r.Units.Stop(ctx, u.Name) })
}

// fresh removes the output of an earlier unit of this name.
func (r *Runner) fresh(u sandbox.Unit) error {
	for _, file := range []string{u.Output, u.Log} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// background bounds keep the live components ahead of the rehearsal.
func background(memory uint64, timeout time.Duration) sandbox.Bounds {
	return sandbox.Bounds{Memory: memory, CPUPercent: 200, CPUWeight: 20, IOWeight: 20, Tasks: 4096, Time: timeout}
}

// scratch is the writable directory of a sandbox.
func (r *Runner) scratch() sandbox.Bind {
	return sandbox.Bind{Host: r.file("work"), Path: rehearsal.Scratch}
}
