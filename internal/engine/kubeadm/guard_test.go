package kubeadm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

func TestFilesOfAnInterruptedPhaseAreRestored(t *testing.T) {
	files := withFiles(t, PhaseKubeletConfig)
	config, instance := files[0], files[1]
	write(t, config, "whole")
	path, _ := pretend(t, "printf half > "+config+"; printf half > "+instance+"; sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	k := Kubeadm{Path: path, Dir: t.TempDir()}
	if _, err := k.RunPhase(ctx, Node, PhaseKubeletConfig, "v1.36.3", nil); err == nil {
		t.Fatal("the phase was not interrupted")
	}
	if got := read(t, config); got != "whole" {
		t.Errorf("config.yaml: got %q", got)
	}
	if _, err := os.Stat(instance); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a truncated new file exists, and kubeadm would keep it")
	}
}

func TestFilesAreRestoredBeforeAPhaseRunsAgainAfterACrash(t *testing.T) {
	files := withFiles(t, PhaseKubeconfig)
	write(t, files[0], "whole")
	k := Kubeadm{Dir: t.TempDir()}
	// As after a kill of the agent: the files are copied, and kubeadm has written a part of one.
	if err := keep(filepath.Join(k.Dir, "guard-"+PhaseKubeconfig), files); err != nil {
		t.Fatal(err)
	}
	write(t, files[0], "half")
	var calls string
	k.Path, calls = pretend(t, "cat "+files[0]+"; printf new > "+files[0])
	said, err := k.RunPhase(t.Context(), Node, PhaseKubeconfig, "v1.36.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	if said != "whole" || read(t, files[0]) != "new" {
		t.Errorf("kubeadm found %q and left %q (%s)", said, read(t, files[0]), read(t, calls))
	}
	if _, err := os.Stat(filepath.Join(k.Dir, "guard-"+PhaseKubeconfig)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the copies still exist and would undo a manual fix")
	}
}

func TestFileOfAnInterruptedPhaseKeepsItsAttributes(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	write(t, file, "whole")
	owner := durable.Owner{UID: 12345, GID: 54321}
	if err := errors.Join(os.Chmod(file, 0o640), os.Chown(file, owner.UID, owner.GID)); err != nil {
		t.Fatal(err)
	}
	label := unix.Setxattr(file, "security.selinux", []byte("label"), 0)
	err := guard(filepath.Join(dir, "guard"), []string{file}, func() error {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		write(t, file, "half")
		return context.Canceled
	})
	info, statErr := os.Stat(file)
	if !errors.Is(err, context.Canceled) || statErr != nil || read(t, file) != "whole" {
		t.Fatalf("got %v, %v, %q", err, statErr, read(t, file))
	}
	if durable.OwnerOf(info) != owner || info.Mode() != 0o640 {
		t.Errorf("the file has owner %v and mode %v", durable.OwnerOf(info), info.Mode())
	}
	if found, err := durable.AttributesOf(file); label == nil && (err != nil || string(found.Xattrs["security.selinux"]) != "label") {
		t.Errorf("the file has %v, %v", found, err)
	}
}

func TestSymlinkThatAnInterruptedPhaseWritesThroughStays(t *testing.T) {
	for situation, before := range map[string]string{"to a file": "whole", "to no file": ""} {
		t.Run(situation, func(t *testing.T) {
			dir := t.TempDir()
			link, file := filepath.Join(dir, "kubelet.conf"), filepath.Join(dir, "elsewhere")
			if err := os.Symlink("elsewhere", link); err != nil {
				t.Fatal(err)
			}
			if before != "" {
				write(t, file, before)
			}
			err := guard(filepath.Join(dir, "guard"), []string{link}, func() error {
				write(t, link, "half")
				return context.Canceled
			})
			if target, readErr := os.Readlink(link); !errors.Is(err, context.Canceled) || readErr != nil || target != "elsewhere" {
				t.Errorf("%v; the symlink leads to %q, %v", err, target, readErr)
			}
			if text, err := os.ReadFile(file); string(text) != before || (err != nil) != (before == "") {
				t.Errorf("the file has %q, %v", text, err)
			}
		})
	}
}

func TestIncompleteCopyIsNotRestored(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	write(t, file, "whole")
	write(t, filepath.Join(dir, "guard", "0"), "torn copy")
	if err := guard(filepath.Join(dir, "guard"), []string{file}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file); got != "whole" {
		t.Errorf("got %q", got)
	}
}

func TestFilesOfAFailedPhaseStay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "before")
	failed := exec.CommandContext(t.Context(), "false").Run()
	err := guard(filepath.Join(t.TempDir(), "guard"), []string{file}, func() error {
		write(t, file, "after")
		return failed
	})
	if !errors.Is(err, failed) || read(t, file) != "after" {
		t.Errorf("got %v, %q", err, read(t, file))
	}
}

func TestIndexIsRemovedBeforeTheCopies(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "guard"), filepath.Join(t.TempDir(), "file")
	write(t, file, "before")
	removed := 0
	t.Cleanup(func() { removeAll = os.RemoveAll })
	removeAll = func(dir string) error {
		removed++
		if _, err := os.Stat(filepath.Join(dir, guardIndex)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the index exists when the copies are removed, removal %d", removed)
		}
		return os.RemoveAll(dir)
	}
	if err := keep(dir, []string{file}); err != nil {
		t.Fatal(err)
	}
	for situation, ends := range map[string]error{"interrupted": context.Canceled, "successful": nil} {
		removed = 0
		if err := keep(dir, []string{file}); err != nil { // what a kill left
			t.Fatal(err)
		}
		if err := guard(dir, []string{file}, func() error { return ends }); !errors.Is(err, ends) {
			t.Fatal(err)
		}
		if removed != 3 {
			t.Errorf("%s: %d removals", situation, removed)
		}
	}
}

// The entry of a file that kubeadm creates is in the directory of the symlink's target.
func TestTheDirectoryOfTheTargetIsSynced(t *testing.T) {
	target := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(target, "file"), link); err != nil {
		t.Fatal(err)
	}
	var synced []string
	t.Cleanup(func() { syncDir = durable.SyncDir })
	syncDir = func(dir string) error {
		synced = append(synced, dir)
		return durable.SyncDir(dir)
	}
	err := guard(filepath.Join(t.TempDir(), "guard"), []string{link}, func() error { return os.WriteFile(link, []byte("after"), 0o600) })
	if err != nil || !slices.Equal(synced, []string{target}) {
		t.Errorf("synced %v, %v, want %s", synced, err, target)
	}
}

func TestCopiesStayUntilTheyAreRestored(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "guard"), filepath.Join(t.TempDir(), "file")
	write(t, file, "whole")
	inTheWay := filepath.Join(file, "x")
	err := guard(dir, []string{file}, func() error {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		write(t, inTheWay, "") // a file cannot replace such a directory
		return context.Canceled
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	if err := guard(dir, []string{file}, func() error { return nil }); err != nil || read(t, file) != "whole" {
		t.Errorf("got %v", err)
	}
}
