package host

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/disk"
)

func TestFileIsWrittenWithItsModeWhateverTheUmask(t *testing.T) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	path := filepath.Join(t.TempDir(), "a", "b", "config.yaml")
	must(t, MkdirAll(filepath.Dir(path), 0o755))
	must(t, WriteFile(path, []byte("one"), 0o644))
	must(t, WriteFile(path, []byte("two"), 0o640))
	wantText(t, path, "two")
	for at, want := range map[string]os.FileMode{path: 0o640, filepath.Dir(path): 0o755 | os.ModeDir} {
		if info, err := os.Stat(at); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v (%v), want %v", at, info.Mode(), err, want)
		}
	}
	if got := names(t, filepath.Dir(path)); !slices.Equal(got, []string{"config.yaml"}) {
		t.Errorf("left behind: %v", got)
	}
}

func TestLinkInThePlaceOfOurNameIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "victim"), "mine", 0o600)
	must(t, os.Symlink("victim", filepath.Join(dir, ".file.refit-tmp")))
	must(t, os.Symlink("victim", filepath.Join(dir, "file")))
	must(t, WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600))
	wantText(t, filepath.Join(dir, "victim"), "mine")
	wantText(t, filepath.Join(dir, "file"), "text")
}

func TestFailedWriteLeavesTheFileAndNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, path, "old", 0o600)
	replaced(t, &syncFile, func(*os.File) error { return unix.ENOSPC })
	wantFailure(t, WriteFile(path, []byte("new"), 0o600), refitv1alpha1.FailureManualIntervention, "DiskFull")
	replaced(t, &syncFile, func(*os.File) error { return unix.EIO })
	wantFailure(t, WriteFile(path, []byte("new"), 0o600), refitv1alpha1.FailureHostBroken, "DiskBroken")
	wantText(t, path, "old")
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestPathsThatAreNotAbsoluteAreRefused(t *testing.T) {
	for _, path := range []string{"", "file", "./file", "/a/../b", "/a/", "//a"} {
		for what, err := range map[string]error{
			"WriteFile": WriteFile(path, nil, 0o600), "MkdirAll": MkdirAll(path, 0o700), "Remove": Remove(path), "Swap": Swap(path, "", sha("")),
			"Unswap": Unswap(path, "", ""), "Settle": Settle(path), "Save": Save(path, nil), "Reserve": Reserve(path, 1),
			"Save of": Save(filepath.Join(t.TempDir(), "saved"), []string{path}),
		} {
			if err == nil {
				t.Errorf("%s took %q", what, path)
			}
		}
	}
}

func TestRemovingWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "x", 0o600)
	must(t, Remove(filepath.Join(dir, "file")))
	must(t, Remove(filepath.Join(dir, "file")))
	must(t, Remove(filepath.Join(dir, "no", "such", "file")))
}

func TestPowerCutAfterAWrite(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "etc", "file")
	must(t, MkdirAll(filepath.Dir(path), 0o755))
	d.CutPower(t)
	d.Boot(t)
	must(t, WriteFile(path, []byte("old"), 0o600))
	d.CutPower(t)
	d.Boot(t)
	wantText(t, path, "old")
	must(t, WriteFile(path, []byte("new"), 0o600))
	d.CutPower(t)
	d.Boot(t)
	wantText(t, path, "new")
	must(t, Remove(path))
	d.CutPower(t)
	d.Boot(t)
	wantText(t, path, "absent")
}

// Takes each of the two syncs away, to show that the test above would notice.
func TestPowerCutAfterAWriteWithoutSync(t *testing.T) {
	d := disk.New(t)
	path := filepath.Join(d.Dir, "file")
	must(t, WriteFile(path, []byte("old"), 0o600))
	t.Run("of the directory: the write was in vain", func(t *testing.T) {
		replaced(t, &syncDir, func(string) error { return nil })
		must(t, WriteFile(path, []byte("new"), 0o600))
		d.CutPower(t)
		d.Boot(t)
		wantText(t, path, "old")
	})
	t.Run("of the file: it is empty", func(t *testing.T) {
		replaced(t, &syncFile, func(*os.File) error { return nil })
		must(t, WriteFile(path, []byte("new"), 0o600))
		d.CutPower(t)
		d.Boot(t)
		wantText(t, path, "")
	})
}
