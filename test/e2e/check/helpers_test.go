//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/figure"
)

// Versions that the tests check for.
const (
	older  = "v1.35.4"
	newer  = "v1.36.3"
	newest = "v1.37.1"
)

const (
	// checkTimeout is the timeout for a defect to appear or disappear: a silent node becomes
	// NotReady after 50 s.
	checkTimeout = 3 * time.Minute
	// pause is the interval between two tries.
	pause = 300 * time.Millisecond
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func show(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	must(t, figure.Print(name, value, unit))
}

// until calls look repeatedly until it returns no error.
func until(ctx context.Context, what string, look func(context.Context) error) error {
	for deadline := time.Now().Add(checkTimeout); ; time.Sleep(pause) {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return fmt.Errorf("waited for %s in vain: %w", what, errors.Join(err, ctx.Err()))
		}
	}
}
