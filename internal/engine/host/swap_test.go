package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/test/disk"
)

const (
	oldText = "#!/bin/true old\n"
	newText = "#!/bin/true new\n"
)

// swapIn is a directory with a binary and its replacement.
func swapIn(t *testing.T, dir string) (from, to string) {
	t.Helper()
	from, to = filepath.Join(dir, "store", "blob"), filepath.Join(dir, "bin", "kubelet")
	put(t, from, newText, 0o400)
	put(t, to, oldText, 0o755)
	return from, to
}

func wantState(t *testing.T, to string, want SwapState) {
	t.Helper()
	if got, err := SwapStateOf(to, sha(oldText), sha(newText)); err != nil || got != want {
		t.Errorf("%s is %s (%v), want %s", to, got, err, want)
	}
}

func TestSwapAndUndo(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	for range 2 { // Everything twice: a restarted agent repeats steps.
		must(t, Stage(from, to, 0o755))
	}
	wantState(t, to, Old)
	for range 2 {
		must(t, Swap(to, sha(oldText), sha(newText)))
	}
	wantState(t, to, New)
	wantText(t, beside(to, oldSuffix), oldText)
	if info, err := os.Stat(to); err != nil || info.Mode() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(from); err != nil || info.Mode() != 0o400 {
		t.Errorf("the source has mode %v now, %v", info.Mode(), err)
	}
	for range 2 {
		must(t, UndoSwap(to, sha(oldText), sha(newText)))
		wantState(t, to, Old)
		wantText(t, beside(to, oldSuffix), oldText)
	}
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	wantState(t, to, New)
	for range 2 {
		must(t, DiscardPrevious(to))
	}
	if got := names(t, filepath.Dir(to)); !slices.Equal(got, []string{"kubelet"}) {
		t.Errorf("left behind: %v", got)
	}
}

func TestSwapOfAnAbsentFile(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, os.Remove(to))
	must(t, Stage(from, to, 0o755))
	wantState(t, to, Absent)
	must(t, Swap(to, "", sha(newText)))
	must(t, Swap(to, "", sha(newText)))
	wantState(t, to, New)
	for range 2 {
		must(t, UndoSwap(to, "", sha(newText)))
		wantState(t, to, Absent)
	}
}

func TestUndoOfASwapRestoresTheSymlink(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, os.Rename(to, to+"-1.35"))
	must(t, os.Symlink("kubelet-1.35", to))
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	wantText(t, to+"-1.35", oldText)
	wantState(t, to, New)
	must(t, UndoSwap(to, sha(oldText), sha(newText)))
	if link, err := os.Readlink(to); err != nil || link != "kubelet-1.35" {
		t.Errorf("%q, %v", link, err)
	}
}

func TestUnchangedFileIsKeptToo(t *testing.T) {
	_, to := swapIn(t, t.TempDir())
	must(t, Swap(to, sha(oldText), sha(oldText)))
	wantText(t, beside(to, oldSuffix), oldText)
}

// F48: a file that was changed by somebody else is kept.
func TestFileThatAnotherProcessChangedIsNotReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, to string){
		"replaced": func(t *testing.T, to string) { t.Helper(); put(t, to, "by apt", 0o755) },
		"removed":  func(t *testing.T, to string) { t.Helper(); must(t, os.Remove(to)) },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := swapIn(t, t.TempDir())
			must(t, Stage(from, to, 0o755))
			change(t, to)
			before := read(t, to)
			wantFailure(t, Swap(to, sha(oldText), sha(newText)), refitv1alpha1.FailureManualIntervention, "ChangedByOthers")
			wantText(t, to, before)
			wantText(t, beside(to, oldSuffix), "absent")
		})
	}
	t.Run("appeared", func(t *testing.T) {
		from, to := swapIn(t, t.TempDir())
		must(t, Stage(from, to, 0o755))
		wantFailure(t, Swap(to, "", sha(newText)), refitv1alpha1.FailureManualIntervention, "ChangedByOthers")
		wantText(t, to, oldText)
	})
}

func TestSwapNeedsTheCompleteStagedFile(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	if err := Swap(to, sha(oldText), sha(newText)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
	must(t, Stage(from, to, 0o755))
	put(t, beside(to, newSuffix), newText[:5], 0o755)
	wantFailure(t, Swap(to, sha(oldText), sha(newText)), refitv1alpha1.FailureTransient, "StagedDamaged")
	wantText(t, to, oldText)
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	wantState(t, to, New)
}

func TestLeftoverOfAnEarlierUpgradeIsNotThePreviousFile(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	put(t, beside(to, oldSuffix), "of last year", 0o755)
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	wantText(t, beside(to, oldSuffix), oldText)
}

func TestLostPreviousFile(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	put(t, beside(to, oldSuffix), "rot", 0o755)
	wantFailure(t, UndoSwap(to, sha(oldText), sha(newText)), refitv1alpha1.FailureHostBroken, "PreviousLost")
	must(t, os.Remove(beside(to, oldSuffix)))
	wantFailure(t, UndoSwap(to, sha(oldText), sha(newText)), refitv1alpha1.FailureHostBroken, "PreviousLost")
	wantFailure(t, Swap(to, sha(oldText), sha(newText)), refitv1alpha1.FailureManualIntervention, "PreviousLost")
	wantText(t, to, newText)
}

func TestUndoKeepsAFileThatAnotherProcessWrote(t *testing.T) {
	for _, was := range []string{sha(oldText), ""} {
		_, to := swapIn(t, t.TempDir())
		put(t, beside(to, oldSuffix), oldText, 0o755)
		put(t, to, "of somebody else", 0o755)
		if err := UndoSwap(to, was, sha(newText)); !errors.Is(err, node.ErrKept) {
			t.Errorf("was %q: %v", was, err)
		}
		wantText(t, to, "of somebody else")
	}
}

func TestSourceThatChangesWhileItIsCopied(t *testing.T) {
	from, _ := swapIn(t, t.TempDir())
	if err := copyFrom(from, sha(oldText), &strings.Builder{}); err == nil {
		t.Error("the copy is not what was meant, and nobody noticed")
	}
}

// F18: a power cut at each write to the disk, during a swap and its rollback. The file is the old
// one or the new one, and repeating succeeds.
func TestPowerCutAtAnyPointOfASwap(t *testing.T) {
	d := disk.New(t)
	was, will := sha(oldText), sha(newText)
	for name, way := range map[string]struct {
		do   func(from, to string) error
		want string
	}{
		"forward": {func(from, to string) error { return errors.Join(Stage(from, to, 0o755), Swap(to, was, will)) }, newText},
		"back":    {func(_, to string) error { return UndoSwap(to, was, will) }, oldText},
	} {
		cuts := 0
		for point := 0; ; point++ {
			must(t, os.RemoveAll(filepath.Join(d.Dir, "bin")))
			from, to := swapIn(t, d.Dir)
			if name == "back" {
				must(t, errors.Join(Stage(from, to, 0o755), Swap(to, was, will)))
			}
			d.Flush(t)
			calls, cut := 0, false
			strike := func() {
				if calls == point {
					cut = true
					d.CutPower(t)
				}
				calls++
			}
			restore := durabletest.Before(t, strike)
			err := way.do(from, to)
			restore()
			if cut == (err == nil) {
				t.Fatalf("%s, cut at %d: %v, but the error is %v", name, point, cut, err)
			}
			if !cut { // After the last point: cut when everything is done.
				d.CutPower(t)
			}
			d.Boot(t)
			if got := read(t, to); got != oldText && got != newText || !cut && got != way.want {
				t.Fatalf("%s, cut at %d of %d: %q", name, point, calls, got)
			}
			must(t, way.do(from, to))
			wantText(t, to, way.want)
			wantText(t, beside(to, oldSuffix), oldText)
			if !cut {
				break
			}
			cuts++
		}
		if want := map[string]int{"forward": 4, "back": 1}[name]; cuts < want {
			t.Errorf("%s: only %d points, want at least %d", name, cuts, want)
		}
	}
}

// Without the sync of the copy, the same power cut leaves an empty binary, so the test above would
// detect it.
func TestPowerCutAfterASwapWithoutSyncLeavesAnEmptyBinary(t *testing.T) {
	d := disk.New(t)
	from, to := swapIn(t, d.Dir)
	d.Flush(t)
	durabletest.FailFiles(t, nil)
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	d.CutPower(t)
	d.Boot(t)
	wantText(t, to, "")
}

// F16: the agent is killed at each system call that changes a file.
func TestAgentKilledAtAnySystemCallOfASwap(t *testing.T) {
	if dir := os.Getenv("REFIT_TEST_SWAP"); dir != "" { // The process to kill. strace counts by thread.
		runtime.LockOSThread()
		from, to := filepath.Join(dir, "store", "blob"), filepath.Join(dir, "bin", "kubelet")
		must(t, Stage(from, to, 0o755))
		must(t, Swap(to, sha(oldText), sha(newText)))
		must(t, UndoSwap(to, sha(oldText), sha(newText)))
		must(t, DiscardPrevious(to))
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	const calls = "renameat,renameat2,linkat,unlinkat,fchmod,fchown,fsync"
	for point := 1; ; point++ {
		dir := t.TempDir()
		from, to := swapIn(t, dir)
		cmd := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", calls, point),
			os.Args[0], "-test.run=^TestAgentKilledAtAnySystemCallOfASwap$")
		cmd.Env = append(os.Environ(), "REFIT_TEST_SWAP="+dir)
		out, err := cmd.CombinedOutput()
		if err == nil {
			if point < 12 {
				t.Errorf("only %d points", point-1)
			}
			return
		}
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("this machine traces no programs: %s", out)
		}
		if strings.Contains(string(out), "FAIL") {
			t.Fatalf("point %d: %v: %s", point, err, out)
		}
		if got := read(t, to); got != oldText && got != newText {
			t.Fatalf("killed at %d: %q", point, got)
		}
		must(t, Stage(from, to, 0o755))
		must(t, Swap(to, sha(oldText), sha(newText)))
		wantState(t, to, New)
		must(t, UndoSwap(to, sha(oldText), sha(newText)))
		wantState(t, to, Old)
		must(t, DiscardPrevious(to))
		if got := names(t, filepath.Dir(to)); !slices.Equal(got, []string{"kubelet"}) {
			t.Errorf("killed at %d: left behind: %v", point, got)
		}
	}
}
