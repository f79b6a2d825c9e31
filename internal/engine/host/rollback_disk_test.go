package host

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/test/disk"
)

func TestPowerCutDuringARollback(t *testing.T) {
	for point := 0; ; point++ {
		d := disk.New(t)
		root, saved, paths := etc(t, d.Dir)
		config := filepath.Join(root, "config.yaml")
		must(t, Track(saved, paths, writes(t, map[string]string{config: "config new", filepath.Join(root, "absent.env"): "x"})))
		d.Flush(t)
		s := load(t, saved)
		calls, cut := 0, false
		strike := func() {
			if calls == point {
				cut = true
				d.CutPower(t)
			}
			calls++
		}
		restore := durabletest.Before(t, strike)
		_, err := s.Rollback(paths...)
		restore()
		if cut == (err == nil) {
			t.Fatalf("cut at %d: %v, but the error is %v", point, cut, err)
		}
		if !cut {
			d.CutPower(t)
		}
		d.Boot(t)
		if got := read(t, config); got != "config old" && (got != "config new" || !cut) {
			t.Fatalf("cut at %d: %q", point, got)
		}
		rollback(t, saved, paths...)
		wantText(t, config, "config old")
		wantText(t, filepath.Join(root, "absent.env"), "absent")
		if !cut {
			break
		}
	}
}

func TestPowerCutAfterASymlinkWasRestored(t *testing.T) {
	d := disk.New(t)
	root, saved, paths := etc(t, d.Dir)
	link := filepath.Join(root, "link.conf")
	must(t, Track(saved, paths, func() error { return durable.WriteFile(link, []byte("a file now"), 0o600) }))
	d.Flush(t)
	rollback(t, saved, link)
	d.CutPower(t)
	d.Boot(t)
	wantText(t, link, "conf")
}

// F23: a rollback on a full disk.
func TestRollbackOnAFullDisk(t *testing.T) {
	d := disk.New(t)
	root, saved, paths := etc(t, d.Dir)
	config, reserve := filepath.Join(root, "config.yaml"), filepath.Join(d.Dir, "reserve")
	large := strings.Repeat("old ", 50_000)
	put(t, config, large, 0o600)
	must(t, Track(saved, paths, writes(t, map[string]string{config: "new"})))
	from, to := swapIn(t, d.Dir)
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	for range 2 {
		must(t, Reserve(reserve, 2<<20))
	}
	disk.FillUp(t, d.Dir)
	s := load(t, saved)

	must(t, UndoSwap(to, sha(oldText), sha(newText))) // Needs no disk space.
	wantState(t, to, Old)
	_, err := s.Rollback(config)
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "DiskFull")
	wantText(t, config, "new")
	must(t, Reserve(reserve, 2<<20)) // The reserve still exists, so this needs no disk space either.
	for range 2 {
		must(t, ReleaseReserve(reserve))
	}
	rollback(t, saved, paths...)
	if !bytes.Equal([]byte(read(t, config)), []byte(large)) {
		t.Error("the configuration is not restored")
	}
}

// A directory has no space for another name: the previous file is renamed instead of linked.
func TestPreviousFileIsRestoredWithoutSpaceForALink(t *testing.T) {
	from, to := swapIn(t, t.TempDir())
	must(t, Stage(from, to, 0o755))
	must(t, Swap(to, sha(oldText), sha(newText)))
	durabletest.FailLinks(t, &os.LinkError{Op: "link", Err: unix.ENOSPC})
	must(t, UndoSwap(to, sha(oldText), sha(newText)))
	wantState(t, to, Old)
	must(t, UndoSwap(to, sha(oldText), sha(newText)))
}
