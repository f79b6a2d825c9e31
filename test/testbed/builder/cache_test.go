package builder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMissingListsNeedsFirstAndOnce(t *testing.T) {
	b, _ := testBuilder(t)
	base := fake{name: "base", release: "v1"}
	left := fake{name: "left", release: "v1", from: []recipe{base}}
	top := fake{name: "top", release: "v1", from: []recipe{base, left}}
	names := func(list []recipe) (names []string) {
		for _, r := range list {
			names = append(names, r.component())
		}
		return names
	}
	if got := names(b.cache.missing(top, left)); !slices.Equal(got, []string{"base", "left", "top"}) {
		t.Errorf("missing %v", got)
	}
	if err := b.ensure(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if got := names(b.cache.missing(top, left)); !slices.Equal(got, []string{"top"}) {
		t.Errorf("missing %v after two were built", got)
	}
	if err := os.RemoveAll(b.cache.entry(base)); err != nil {
		t.Fatal(err)
	}
	if got := names(b.cache.missing(left)); len(got) != 0 {
		t.Errorf("missing %v: the needs of a finished entry do not matter", got)
	}
}

func TestLeftoversOfInterruptedBuildAreNotAnEntry(t *testing.T) {
	b, _ := testBuilder(t)
	ctx, interrupt := context.WithCancel(t.Context())
	half := fake{name: "thing", release: "v1", work: func(_ context.Context, _ *workshop, dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "half"), nil, 0o644); err != nil {
			return err
		}
		interrupt()
		return ctx.Err()
	}}
	if err := b.ensure(ctx, half); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted build: %v", err)
	}
	partial := b.cache.entry(half) + partialSuffix
	if _, err := os.Stat(filepath.Join(partial, "half")); err != nil {
		t.Fatalf("the interrupted build left nothing: %v", err)
	}
	if b.cache.has(half) {
		t.Fatal("an incomplete entry counts as complete")
	}

	whole := fake{name: "thing", release: "v1"}
	if err := b.ensure(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.cache.entry(whole), "half")); err == nil {
		t.Error("the new entry contains leftovers")
	}
	if _, err := os.Stat(partial); err == nil {
		t.Error("the leftovers still exist")
	}
}

func TestFailedBuildReportsToolOutputAndLeavesNothing(t *testing.T) {
	b, _ := testBuilder(t)
	broken := errors.New("tool broke")
	failing := fake{name: "thing", release: "v1", work: func(_ context.Context, shop *workshop, _ string) error {
		for range 100 {
			if _, err := shop.log.WriteString("early\n"); err != nil {
				return err
			}
		}
		if _, err := shop.log.WriteString("last output\n"); err != nil {
			return err
		}
		return broken
	}}
	err := b.ensure(t.Context(), failing)
	if !errors.Is(err, broken) {
		t.Fatalf("the cause is lost: %v", err)
	}
	text := err.Error()
	if !strings.Contains(text, "thing v1") || !strings.Contains(text, "last output") {
		t.Errorf("the error does not explain the failure: %s", text)
	}
	if n := strings.Count(text, "early"); n != tailLines-1 {
		t.Errorf("%d lines of the log, want the last %d", n+1, tailLines)
	}
	_, log, _ := strings.Cut(text, "full log: ")
	if _, err := os.Stat(log); err != nil {
		t.Errorf("the error names no log: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(b.cache.dir, "thing", "*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFinishedEntriesAreFoundDuringAnotherBuild(t *testing.T) {
	b, out := testBuilder(t)
	thing := fake{name: "thing", release: "v1"}
	if err := b.ensure(t.Context(), thing); err != nil {
		t.Fatal(err)
	}
	unlock, err := b.cache.lock(t.Context(), b.report)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := b.ensure(t.Context(), thing); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "waiting") {
		t.Error("the lookup of a finished entry waited for the lock")
	}
}
