package bundles

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
)

const (
	// mostOfOwner and most bound the files, and the parts in memory. One is collected at a time.
	mostOfOwner = 2
	most        = 4
	// keepFor is how long a bundle is kept after its start.
	keepFor = time.Hour
	// maxParts bounds the parts of a bundle that are listed.
	maxParts = 2000
)

// MaxBytes bounds the content of a bundle before compression. Twice as much disk space must be
// free: the server keeps its audit log on the same disk.
const MaxBytes = 128 << 20

// Name is the directory of the files in that of the server.
const Name = "support-bundles"

var (
	// ErrBusy is the error of a bundle that cannot start since another one is being collected.
	ErrBusy = errors.New("another support bundle is being collected")
	// ErrNoSpace is the error of a disk without space for a bundle.
	ErrNoSpace = errors.New("the disk of the server has no space for a support bundle")
)

// Bundle is a copy of the state of a bundle.
type Bundle struct {
	ID, Operation string
	Start         time.Time
	// Completion is zero while the bundle is being collected.
	Completion time.Time
	Expire     time.Time
	Activity   string
	Parts      []cliv1alpha1.BundlePart
	Name       string // of the file
	Size       int64
	Err        error // why there is no file
}

// Complete is true once the bundle has a file or an error.
func (b *Bundle) Complete() bool { return !b.Completion.IsZero() }

// Progress is the action in progress, or a part that was added.
type Progress struct {
	Activity string
	Part     *cliv1alpha1.BundlePart
}

// Collect writes the file of a bundle, and returns its index.
type Collect func(ctx context.Context, report func(Progress), to io.Writer) (*cliv1alpha1.SupportBundle, error)

// Registry has the bundles of all owners. Its methods are safe for concurrent use.
type Registry struct {
	directory string
	now       func() time.Time
	// free returns the free disk space of a directory. Tests replace it.
	free func(directory string) (int64, error)

	base    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	busy   bool
	all    []*entry // the oldest first
}

type entry struct {
	owner  string
	Bundle // guarded by the mutex of the registry
}

// New returns a registry with files in a directory of the server. Files of an earlier server are
// deleted: their owners are not known any more.
func New(directory string, now func() time.Time) (*Registry, error) {
	r := &Registry{directory: filepath.Join(directory, Name), now: now, free: freeBytes}
	if err := os.RemoveAll(r.directory); err != nil {
		return nil, fmt.Errorf("cannot delete earlier support bundles: %w", err)
	}
	if err := durable.MkdirAll(r.directory, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the directory of support bundles: %w", err)
	}
	r.base, r.stop = context.WithCancel(context.Background())
	return r, nil
}

// Close ends the collection, and deletes all files.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
	r.running.Wait()
	return os.RemoveAll(r.directory)
}

// Start starts a bundle, which continues after the request of the caller.
func (r *Registry) Start(owner string, collect Collect) (Bundle, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return Bundle{}, context.Canceled
	case r.busy:
		return Bundle{}, ErrBusy
	}
	r.forget(owner, mostOfOwner-1, most-1)
	if free, err := r.free(r.directory); err == nil && free < 2*MaxBytes {
		return Bundle{}, ErrNoSpace
	}
	now := r.now()
	e := &entry{owner: owner, Bundle: Bundle{ID: rand.Text(), Start: now, Expire: now.Add(keepFor)}}
	r.all, r.busy = append(r.all, e), true
	r.running.Go(func() { r.run(e, collect) })
	return e.copy(), nil
}

func (r *Registry) run(e *entry, collect Collect) {
	var index *cliv1alpha1.SupportBundle
	err := archive.File(r.path(e.ID), func(to io.Writer) (err error) {
		defer func() { // a panic would end the server
			if cause := recover(); cause != nil {
				err = fmt.Errorf("a panic: %v\n%s", cause, debug.Stack())
			}
		}()
		index, err = collect(r.base, func(p Progress) { r.report(e, p) }, to)
		return err
	})
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = ErrNoSpace
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Completion, e.Activity, e.Err, r.busy = r.now(), "", err, false
	if err != nil {
		return
	}
	e.Operation, e.Name = index.Operation, nameOf(index)
	info, err := os.Stat(r.path(e.ID))
	if err != nil {
		e.Err = err
		return
	}
	e.Size = info.Size()
}

func (r *Registry) report(e *entry, p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Part == nil {
		e.Activity = p.Activity
		return
	}
	if len(e.Parts) < maxParts {
		e.Parts = append(e.Parts, *p.Part)
	}
}

// nameOf is the name under which a browser saves the file.
func nameOf(index *cliv1alpha1.SupportBundle) string {
	return "refit-support-bundle-" + index.Time.UTC().Format("20060102T150405Z") + ".tar.gz"
}

func (r *Registry) path(id string) string { return filepath.Join(r.directory, id+".tar.gz") }

// copy returns the state. Parts are only appended, so their slice is shared.
func (e *entry) copy() Bundle {
	out := e.Bundle
	out.Parts = slices.Clip(out.Parts)
	return out
}

// Sweep deletes the bundles that have expired.
func (r *Registry) Sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget("", most, most)
}

// forget deletes the bundles that have expired, and the oldest complete ones above a number.
func (r *Registry) forget(owner string, ofOwner, total int) {
	now := r.now()
	r.drop(len(r.all), func(e *entry) bool { return !now.Before(e.Expire) })
	n := 0
	for _, e := range r.all {
		if e.owner == owner {
			n++
		}
	}
	r.drop(n-ofOwner, func(e *entry) bool { return e.owner == owner })
	r.drop(len(r.all)-total, func(*entry) bool { return true })
}

// drop deletes the oldest complete bundles, at most n. A file that remains is deleted with the
// server.
func (r *Registry) drop(n int, which func(*entry) bool) {
	r.all = slices.DeleteFunc(r.all, func(e *entry) bool {
		if n <= 0 || !e.Complete() || !which(e) {
			return false
		}
		n--
		_ = os.Remove(r.path(e.ID))
		return true
	})
}

// Get returns a bundle of an owner.
func (r *Registry) Get(owner, id string) (Bundle, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.find(owner, id); e != nil {
		return e.copy(), true
	}
	return Bundle{}, false
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

// Open opens the file of a complete bundle. It stays readable while it is deleted.
func (r *Registry) Open(owner, id string) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.find(owner, id)
	if e == nil || !e.Complete() || e.Err != nil {
		return nil, os.ErrNotExist
	}
	return os.Open(r.path(e.ID))
}
