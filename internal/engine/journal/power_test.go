package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/test/disk"
)

func TestPowerCutLosesNothingThatWasAppended(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "journal")
	for i := range 4 {
		var j *Journal
		var err error
		if i == 0 {
			j, err = Create(path, machine, opened())
		} else if j, err = Open(path, machine); err == nil {
			err = j.Append(begun("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
		d.CutPower(t)
		_ = j.Close()
		d.Boot(t)
		records, err := Read(path, machine)
		if err != nil || len(records) != i+1 {
			t.Fatalf("after cut %d: %d records, %v", i, len(records), err)
		}
	}
}

// The two that follow show that the test above would notice.

func TestPowerCutWithoutSyncLosesTheRecord(t *testing.T) {
	d := disk.New(t)
	j := create(t, filepath.Join(d.Dir, "journal"))
	withoutSync(t)
	appendAll(t, j, begun("x"))
	d.CutPower(t)
	_ = j.Close()
	d.Boot(t)
	if records, err := Read(j.path, machine); err != nil || len(records) != 1 {
		t.Errorf("%d records, %v: this disk keeps what was not synced, the tests prove nothing", len(records), err)
	}
}

func TestPowerCutWithoutSyncOfTheDirectoryLosesTheJournal(t *testing.T) {
	d := disk.New(t)
	durabletest.FailDirs(t, nil)
	j := create(t, filepath.Join(d.Dir, "journal"))
	d.CutPower(t)
	_ = j.Close()
	d.Boot(t)
	if _, err := Read(j.path, machine); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v: this disk keeps names that were not synced, the tests prove nothing", err)
	}
}

// A power cut while a record is on its way: it is there or not, the ones before are.
func TestPowerCutInTheMidstOfAnAppend(t *testing.T) {
	d := disk.New(t)
	j := create(t, filepath.Join(d.Dir, "journal"))
	appendAll(t, j, begun("x"))
	restore := durabletest.Before(t, func() { d.CutPower(t) })
	if err := j.Append(begun(strings.Repeat("y", 20<<10))); err == nil {
		t.Fatal("the cut was not noticed")
	}
	_ = j.Close()
	restore()
	d.Boot(t)
	again, err := Open(j.path, machine)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := len(again.Records()); n != 2 {
		t.Errorf("%d records", n)
	}
	appendAll(t, again, begun("z"))
}

func TestFullDiskTakesTheWayBackButNoNewStep(t *testing.T) {
	for name, dir := range map[string]func(t *testing.T) string{
		"ext4":  func(t *testing.T) string { t.Helper(); return disk.New(t).Dir },
		"tmpfs": tmpfs,
	} {
		t.Run(name, func(t *testing.T) {
			dir := dir(t)
			j := create(t, filepath.Join(dir, "journal"))
			disk.FillUp(t, dir)
			var err error
			for range 100 {
				if err = j.Append(begun(strings.Repeat("s", 20<<10))); err != nil {
					break
				}
			}
			wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "DiskFull")
			for range 10 { // 200 KiB of the way back.
				appendAll(t, j, node.Record{Kind: node.Undone, Step: strings.Repeat("s", 20<<10)})
			}
			n := len(j.Records())
			again := reopen(t, j)
			if len(again.Records()) != n {
				t.Errorf("%d records, want %d", len(again.Records()), n)
			}
			if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
				t.Fatal(err)
			}
			appendAll(t, again, begun("x"))
		})
	}
}

func TestNoJournalBeginsOnAFullDisk(t *testing.T) {
	dir := disk.New(t).Dir
	disk.FillUp(t, dir)
	_, err := Create(filepath.Join(dir, "journal"), machine, opened())
	wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "DiskFull")
	names, err := filepath.Glob(filepath.Join(dir, ".journal*"))
	if err != nil || len(names) != 0 {
		t.Errorf("left behind: %v %v", names, err)
	}
}

func tmpfs(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("this machine mounts no tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}
