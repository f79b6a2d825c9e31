package host

import (
	"os"
	"testing"
)

// Only between the removal of a file and its swap do the files beside it look like an interruption.
func TestInterruptedSwap(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	interrupted := func(want bool, when string) {
		t.Helper()
		if got := Interrupted(to); got != want {
			t.Errorf("%s: %t", when, got)
		}
	}
	must(t, Stage(from, to, 0o755))
	interrupted(false, "staged")
	must(t, MoveAside(to, sha(oldText)))
	interrupted(true, "moved aside")
	for range 2 {
		must(t, RestoreMoved(to))
		wantState(t, to, Old)
	}
	must(t, MoveAside(to, sha(oldText)))
	must(t, Swap(to, sha(oldText), sha(newText)))
	interrupted(false, "swapped")
	must(t, os.Remove(to))
	interrupted(false, "removed by its owner")
	must(t, RestoreMoved(to))
	wantState(t, to, Absent)
}

func TestFileWithoutAStagedOneIsNotRestored(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, Stage(from, to, 0o755))
	must(t, MoveAside(to, sha(oldText)))
	for range 2 {
		must(t, DiscardStaged(to))
	}
	must(t, RestoreMoved(to))
	wantState(t, to, Absent)
}
