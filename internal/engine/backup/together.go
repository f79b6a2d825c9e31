package backup

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Panic is the panic of another goroutine.
type Panic struct {
	Value any
	Stack []byte // of that goroutine
}

func (p *Panic) String() string { return fmt.Sprint(p.Value) }

// errCheckPanicked ends the other functions of together.
var errCheckPanicked = errors.New("a check of the backup panicked")

// together runs functions at the same time, and ends them with the first error. A panic ends in the
// goroutine of the caller, which recovers it: in its own it would end the process.
func together(ctx context.Context, work []func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	panics := make([]*Panic, len(work))
	for i, do := range work {
		group.Go(func() (err error) {
			debug.SetPanicOnFault(true) // for this goroutine, which may read a mapped file
			defer func() {
				if r := recover(); r != nil {
					panics[i], err = &Panic{Value: r, Stack: debug.Stack()}, errCheckPanicked
				}
			}()
			return do(ctx)
		})
	}
	err := group.Wait()
	if i := slices.IndexFunc(panics, func(p *Panic) bool { return p != nil }); i >= 0 {
		panic(panics[i])
	}
	return err
}
