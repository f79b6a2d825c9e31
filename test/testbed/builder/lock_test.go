package builder

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/progress"
)

func TestSecondBuildWaitsAndReportsTheHolder(t *testing.T) {
	first, _ := testBuilder(t)
	unlock, err := first.cache.lock(t.Context(), first.report)
	if err != nil {
		t.Fatal(err)
	}
	out := &notes{}
	second := New(first.cache.dir, progress.New(out))
	thing := fake{name: "thing", release: "v1"}
	done := make(chan error, 1)
	go func() { done <- second.ensure(t.Context(), thing) }()

	want := "waiting for another build (pid " + strconv.Itoa(os.Getpid()) + ")"
	waitUntil(t, func() bool { return strings.Contains(out.String(), want) })
	if second.cache.has(thing) {
		t.Error("it built while another build held the lock")
	}
	unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !second.cache.has(thing) {
		t.Error("it did not build after it got the lock")
	}
	if n := strings.Count(out.String(), "waiting"); n != 1 {
		t.Errorf("it reported the wait %d times", n)
	}
}

func TestBuildsTakeTurns(t *testing.T) {
	long, _ := testBuilder(t)
	short := New(long.cache.dir, progress.Discard())
	var many []recipe
	begun := make(chan struct{})
	for i := range 20 {
		many = append(many, fake{name: "long", release: strconv.Itoa(i), work: func(context.Context, *workshop, string) error {
			if i == 0 {
				close(begun)
				time.Sleep(machine.LockPoll) // the other build waits by now
			}
			return nil
		}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- long.ensure(ctx, many...) }()
	<-begun
	if err := short.ensure(t.Context(), fake{name: "short", release: "v1"}); err != nil {
		t.Fatal(err)
	}
	if long.cache.has(many[len(many)-1]) {
		t.Error("the short build waited for the whole long build")
	}
	cancel()
	<-done
}

func TestWaitingBuildCanBeCanceled(t *testing.T) {
	b, out := testBuilder(t)
	unlock, err := b.cache.lock(t.Context(), b.report)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.ensure(ctx, fake{name: "thing", release: "v1"}) }()
	waitUntil(t, func() bool { return strings.Contains(out.String(), "waiting") })
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled while waiting: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it is still waiting")
	}
}

// waitUntil fails the test if a condition is not met within 10 seconds.
func waitUntil(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("condition not met within 10 seconds")
		}
	}
}
