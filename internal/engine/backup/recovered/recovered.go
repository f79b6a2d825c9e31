// Package recovered turns panics into errors. Upgrades of a host depend on the process that takes
// its backups, and a panic in any goroutine would end it.
package recovered

import (
	"fmt"
	"runtime/debug"
)

// Panic is the error of a function that panicked.
type Panic struct {
	Value any
	Stack []byte // of its goroutine
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Call calls a function, and returns a *Panic if it panics. Faults of mapped files are panics, too.
func Call(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine
	defer func() {
		if r := recover(); r != nil {
			err = &Panic{Value: r, Stack: debug.Stack()}
		}
	}()
	return do()
}
