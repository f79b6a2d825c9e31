package bed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/figure"
)

// Versions that the tests upgrade between. The last hop also changes etcd's minor version.
const (
	Older  = "v1.35.4"
	Newer  = "v1.36.3"
	Newest = "v1.37.1"
)

const (
	// CheckTimeout is the timeout of a check that is retried.
	CheckTimeout = 3 * time.Minute
	// Pause is the interval between two tries.
	Pause = 200 * time.Millisecond
	// Recovery limits the time until a cluster is ready again after a fault.
	Recovery = 4 * time.Minute
	// Whole limits the time of an operation on a whole cluster, including all disturbances by
	// tests.
	Whole = 30 * time.Minute
)

// Must ends the test on error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Show prints a figure.
func Show(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	Must(t, figure.Print(name, value, unit))
}

// Until calls look repeatedly until it returns no error.
func Until(ctx context.Context, what string, deadline time.Duration, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for last := errors.New("there was no time to look"); ; {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err // reported on timeout
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s in vain: %w", deadline, what, errors.Join(last, ctx.Err()))
		case <-time.After(Pause):
		}
	}
}

// Soon bounds one request: the API of a node that is being upgraded may hang.
func Soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 5*time.Second)
}

// Count reads a number from the environment, to shorten or lengthen a test.
func Count(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	Must(t, err)
	return n
}

// Duration returns the duration in an environment variable.
func Duration(t *testing.T, variable string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	Must(t, err)
	return d
}

// Mentions returns an error unless the text contains the words.
func Mentions(text string, words ...string) error {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return fmt.Errorf("%q is not in %q", word, text)
		}
	}
	return nil
}

// Lines returns the lines of a text that are not empty.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}
