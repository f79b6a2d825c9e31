package host

import (
	"os"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Only between the removal of a file and its swap does the record beside it show an interruption.
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

// An owner who removes a file decides that, even while the operation that moved it before is open.
func TestFileIsRestoredOncePerInterruption(t *testing.T) {
	for situation, restore := range map[string]func(to string) error{
		"restored":                     RestoreMoved,
		"undone":                       func(to string) error { return UndoSwap(to, sha(oldText), sha(newText)) },
		"the agent died before it was": func(to string) error { return os.Link(beside(to, oldSuffix), to) },
	} {
		t.Run(situation, func(t *testing.T) {
			from, to := swapIn(t, t.TempDir())
			must(t, Stage(from, to, 0o755))
			must(t, MoveAside(to, sha(oldText)))
			must(t, restore(to))
			must(t, RestoreMoved(to))
			wantState(t, to, Old)
			must(t, os.Remove(to))
			must(t, RestoreMoved(to))
			wantState(t, to, Absent)
		})
	}
}

// The file that was kept may have been damaged or replaced since.
func TestOtherFileThanTheMovedOneIsNotRestored(t *testing.T) {
	for situation, spoil := range map[string]func(kept string) error{
		"damaged": func(kept string) error { return os.WriteFile(kept, []byte("rot"), 0o600) },
		"empty":   func(kept string) error { return os.Truncate(kept, 0) },
		"lost":    os.Remove,
	} {
		t.Run(situation, func(t *testing.T) {
			from, to := swapIn(t, t.TempDir())
			must(t, Stage(from, to, 0o755))
			must(t, MoveAside(to, sha(oldText)))
			must(t, spoil(beside(to, oldSuffix)))
			wantFailure(t, RestoreMoved(to), refitv1alpha1.FailureHostBroken, "PreviousLost")
			wantState(t, to, Absent)
		})
	}
}

// Of an earlier upgrade the previous file stays until the next one. It is not the one that this
// upgrade has moved.
func TestLeftoverOfAnEarlierUpgradeIsNotRestored(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	put(t, beside(to, oldSuffix), "of last year", 0o755)
	must(t, Stage(from, to, 0o755))
	must(t, os.Remove(to))
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
