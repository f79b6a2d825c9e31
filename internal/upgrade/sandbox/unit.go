// Package sandbox describes processes that run beside a live cluster without access to it: their
// command, the files they see, their network and their bounds. The description is plain data, so
// that it can be tested and printed; internal/engine/transient starts it.
package sandbox

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Unit is one process. Its name identifies it after a crash.
type Unit struct {
	Name        string // without ".service"
	Description string
	Command     []string // begins with an absolute path, in the sandbox if there is one
	Environment []string // NAME=value; every user of the host can read it
	// EnvironmentFile is a file on the host with further variables, which only root can read. It
	// may be empty.
	EnvironmentFile string
	// Kind determines what "started" means, and which bound ends the unit.
	Kind   Kind
	Bounds Bounds
	// Sandbox isolates the process. Without one it runs in the namespaces of the host, with the
	// permissions of root: only for mounting and unmounting.
	Sandbox *Sandbox
	// Output is the file on the host that receives standard output, Log the one for standard error.
	Output, Log string
}

// Kind is the kind of a process.
type Kind string

// The kinds of processes.
const (
	// Task is a process that ends by itself.
	Task Kind = "Task"
	// Service is a process that runs until it is stopped.
	Service Kind = "Service"
)

// Sandbox is what a process can reach: the listed paths and a loopback device. It has no devices of
// the host, no network and, except with ReadsAll, no capabilities.
type Sandbox struct {
	ReadOnly []Bind
	Writable []Bind
	// Empty are directories in memory.
	Empty []string
	// ReadsAll lets the process read files and connect to sockets of every owner, as a container of
	// root can. It keeps CAP_DAC_OVERRIDE for that, with which it can write nothing but Writable:
	// the rest is mounted read-only, and it has neither devices nor CAP_SYS_ADMIN.
	ReadsAll bool
	// Joins is the name of a running unit whose network it shares. Empty means a network of its
	// own.
	Joins string
}

// Bind is a path of the host in a sandbox.
type Bind struct {
	Host string
	Path string
	// Optional binds are left out if the host does not have the path.
	Optional bool
}

// Bounds limit a process, so that the components of the live cluster always come first. A zero
// value leaves a resource unbounded, except Time.
type Bounds struct {
	Memory     uint64 // bytes; the process is killed above it
	CPUPercent uint64 // of one core
	CPUWeight  uint64 // 1 to 10000; the default of other units is 100
	IOWeight   uint64 // the same
	Tasks      uint64
	// Time ends the process even if nothing else does, such as after a crash of the agent.
	Time time.Duration
}

// maxTime bounds Bounds.Time: nothing runs longer beside a cluster.
const maxTime = 12 * time.Hour

// Validate checks a unit before it starts: what is not valid here could reach the live cluster, or
// could outlive its bound.
func (u Unit) Validate() error {
	errs := []error{u.validateName(), u.validateCommand()}
	if u.Kind != Task && u.Kind != Service {
		errs = append(errs, fmt.Errorf("kind %q is not Task or Service", u.Kind))
	}
	if u.Bounds.Time <= 0 || u.Bounds.Time > maxTime {
		errs = append(errs, fmt.Errorf("its time bound %s is not between 0 and %s", u.Bounds.Time, maxTime))
	}
	for _, file := range []string{u.Output, u.Log, u.EnvironmentFile} {
		if file != "" && !clean(file) {
			errs = append(errs, fmt.Errorf("%q is not a clean absolute path", file))
		}
	}
	if u.Sandbox != nil {
		errs = append(errs, u.Sandbox.validate())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("invalid unit %s: %w", u.Name, err)
	}
	return nil
}

func (u Unit) validateName() error {
	if u.Name == "" || len(u.Name) > 200 || strings.Trim(u.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%q is not a name of lower case letters, digits and dashes", u.Name)
	}
	return nil
}

func (u Unit) validateCommand() error {
	if len(u.Command) == 0 || !clean(u.Command[0]) {
		return errors.New("its command does not begin with a clean absolute path")
	}
	return nil
}

func (s Sandbox) validate() error {
	var errs []error
	seen := map[string]bool{}
	for _, bind := range slices.Concat(s.ReadOnly, s.Writable) {
		if !clean(bind.Host) || !clean(bind.Path) || bind.Path == "/" {
			errs = append(errs, fmt.Errorf("%s at %s are not two clean absolute paths", bind.Host, bind.Path))
		}
		if seen[bind.Path] {
			errs = append(errs, fmt.Errorf("two binds at %s", bind.Path))
		}
		seen[bind.Path] = true
	}
	for _, dir := range s.Empty {
		if !clean(dir) || seen[dir] || dir == "/" {
			errs = append(errs, fmt.Errorf("%s is not a clean absolute path of its own", dir))
		}
	}
	return errors.Join(errs...)
}

// clean reports whether a path is absolute, without dots, and without the separator of mount
// options, which a path with a colon would add.
func clean(name string) bool {
	return path.IsAbs(name) && path.Clean(name) == name && !strings.ContainsAny(name, ":\n\x00")
}
