//go:build e2e

package agent

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/figure"
	"github.com/refit-dev/refit/test/testbed/sample"
)

// Versions that the tests move between. The last hop is one of etcd's minor too.
const (
	older  = "v1.35.4"
	newer  = "v1.36.3"
	newest = "v1.37.1"
)

const (
	// patience is how long a single look may be repeated.
	patience = 3 * time.Minute
	// pause is between two looks.
	pause = 200 * time.Millisecond
	// recovery is how long a cluster may take to be ready again after a fault.
	recovery = 4 * time.Minute
	// fetching and changing are how long a node may take for its order.
	fetching = 4 * time.Minute
	changing = 8 * time.Minute
	// wayBack is how long a node that does not become healthy may take until it is the old one again, from the moment at which it broke.
	wayBack = 120 * time.Second
)

// diskSize is room for a node, the store, and the images of two versions.
const diskSize = 8 << 30

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

// until looks again and again until nothing is missing any more.
func until(ctx context.Context, what string, deadline time.Duration, look func(context.Context) error) error {
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
		case <-time.After(pause):
		}
	}
}

// soon bounds one request: the API of a node at work may hang.
func soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 5*time.Second)
}

// setting is a duration from the environment, for those who want a test shorter or longer than it is.
func setting(t *testing.T, variable string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	must(t, err)
	return d
}

// showGaps prints the gaps of an availability report, and fails when nothing was sampled.
func showGaps(t *testing.T, name, suffix string, report sample.Report) {
	t.Helper()
	for kind, part := range map[sample.Kind]string{sample.KindAPINew: "api", sample.KindAPIReused: "api_reused", sample.KindService: "service"} {
		totals, ok := report.Kind(kind)
		if !ok || totals.Samples == 0 {
			t.Fatalf("there are no samples of kind %s", kind)
		}
		show(t, name+"_"+part+"_gap_"+suffix, totals.GapSeconds, "s")
		show(t, name+"_"+part+"_longest_gap_"+suffix, totals.LongestGapSeconds, "s")
		show(t, name+"_"+part+"_gaps_"+suffix, float64(totals.GapCount), "gaps")
		show(t, name+"_"+part+"_missed_"+suffix, float64(totals.MissedTicks), "ticks")
	}
}

// mentions tells whether a text has a word.
func mentions(text, word string) error {
	if !strings.Contains(text, word) {
		return fmt.Errorf("%q is not in %q", word, text)
	}
	return nil
}

// lines are those of a text that are not empty.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

// figureName makes a name that figures may have.
func figureName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// count is a number from the environment.
func count(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func atoi(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	must(t, err)
	return n
}
