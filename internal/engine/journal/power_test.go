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

func TestAppendedRecordsSurviveAPowerFailure(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "journal")
	for i := range 4 {
		var j *Journal
		var err error
		if i == 0 {
			j, err = Create(path, machine, opened())
		} else if j, err = Open(path, machine); err == nil {
			err = j.Append(started("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
		d.CutPower(t)
		_ = j.Close()
		d.Boot(t)
		records, err := Read(path, machine)
		if err != nil || len(records) != i+1 {
			t.Fatalf("after power failure %d: %d records, %v", i, len(records), err)
		}
	}
}

// The next two tests show that the test above detects a missing sync.

func TestWithoutSyncAPowerFailureLosesTheRecord(t *testing.T) {
	d := disk.New(t)
	j := create(t, filepath.Join(d.Dir, "journal"))
	withoutSync(t)
	appendAll(t, j, started("x"))
	d.CutPower(t)
	_ = j.Close()
	d.Boot(t)
	if records, err := Read(j.path, machine); err != nil || len(records) != 1 {
		t.Errorf("%d records, %v: this disk keeps unsynced data, so the tests prove nothing", len(records), err)
	}
}

func TestWithoutDirectorySyncAPowerFailureLosesTheJournal(t *testing.T) {
	d := disk.New(t)
	durabletest.FailDirs(t, nil)
	j := create(t, filepath.Join(d.Dir, "journal"))
	d.CutPower(t)
	_ = j.Close()
	d.Boot(t)
	if _, err := Read(j.path, machine); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v: this disk keeps unsynced names, so the tests prove nothing", err)
	}
}

// After a power failure during a write, that record exists or not, and all former ones do.
func TestPowerFailureDuringAnAppend(t *testing.T) {
	d := disk.New(t)
	j := create(t, filepath.Join(d.Dir, "journal"))
	appendAll(t, j, started("x"))
	restore := durabletest.Before(t, func() { d.CutPower(t) })
	if err := j.Append(started(strings.Repeat("y", 20<<10))); err == nil {
		t.Fatal("the power failure caused no error")
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
	appendAll(t, again, started("z"))
}

func TestFullDiskAllowsARollbackButNoNewStep(t *testing.T) {
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
				if err = j.Append(started(strings.Repeat("s", 20<<10))); err != nil {
					break
				}
			}
			wantFailure(t, err, refitv1alpha1.FailureManualIntervention, "DiskFull")
			for range 10 { // 200 KiB of a rollback
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
			appendAll(t, again, started("x"))
		})
	}
}

func TestNoJournalIsCreatedOnAFullDisk(t *testing.T) {
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
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}
