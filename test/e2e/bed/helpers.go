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

// Versions that the tests move between. The last hop is one of etcd's minor too.
const (
	Older  = "v1.35.4"
	Newer  = "v1.36.3"
	Newest = "v1.37.1"
)

const (
	// Patience is how long a single look may be repeated.
	Patience = 3 * time.Minute
	// Pause is between two looks.
	Pause = 200 * time.Millisecond
	// Recovery is how long a cluster may take to be ready again after a fault.
	Recovery = 4 * time.Minute
)

// Must ends the test if something went wrong.
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

// Until looks again and again until nothing is missing any more.
func Until(ctx context.Context, what string, deadline time.Duration, look func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for last := errors.New("there was no time to look"); ; {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err // what is said once the time is over speaks of that
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s in vain: %w", deadline, what, errors.Join(last, ctx.Err()))
		case <-time.After(Pause):
		}
	}
}

// Soon bounds one request: the API of a node at work may hang.
func Soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 5*time.Second)
}

// Count is a number from the environment, for those who want a test shorter or longer than it is.
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

// Mentions tells whether a text has a word.
func Mentions(text, word string) error {
	if !strings.Contains(text, word) {
		return fmt.Errorf("%q is not in %q", word, text)
	}
	return nil
}

// Lines are those of a text that are not empty.
func Lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}
