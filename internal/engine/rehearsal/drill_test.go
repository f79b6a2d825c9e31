package rehearsal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

func TestDrillOfAGoodBackup(t *testing.T) {
	h := newHost(t)
	backup := h.backup()
	result, err := h.runner.Drill(t.Context(), backup)
	if err != nil {
		t.Fatal(err)
	}
	want := rehearsal.Figures{Revision: 1973, Keys: 308, Hash: 7, Bytes: 1585152, Entries: 900, EntriesHash: 3, HashKV: 9, HashRevision: 1973, CompactRevision: 1549}
	if result.Figures != want {
		t.Errorf("%+v", result.Figures)
	}
	if got, want := h.names(), []string{"mount", "status", "restore", "read", "etcd", "requests", "unmount"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	h.clean()
	if !exists(backup.File) {
		t.Error("the backup itself is gone")
	}
}

// Nothing of the host is writable for a process of a drill, except its scratch directory.
func TestSandboxesOfADrill(t *testing.T) {
	h := newHost(t)
	if _, err := h.runner.Drill(t.Context(), h.backup()); err != nil {
		t.Fatal(err)
	}
	for _, u := range h.started {
		if u.Name == unitMount || u.Name == unitUnmount {
			continue
		}
		if u.Sandbox == nil || len(u.Sandbox.Writable) != 1 || u.Sandbox.Writable[0].Host != h.runner.file("work") || u.Bounds.Memory == 0 {
			t.Errorf("%s: %+v", u.Name, u)
		}
	}
	if joins := h.unit(unitRequests).Sandbox.Joins; joins != unitEtcd {
		t.Errorf("the requests are sent in the network of %q", joins)
	}
}

func TestDrillRejects(t *testing.T) {
	exited := sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 1}
	for name, c := range map[string]struct {
		change func(*host, *Backup)
		reason string
	}{
		"unreadable backup":         {func(h *host, _ *Backup) { h.outcomes[unitStatus] = exited }, "BackupCorrupted"},
		"failed restore":            {func(h *host, _ *Backup) { h.outcomes[unitRestore] = exited }, "RestoreFailed"},
		"etcd that ends":            {func(h *host, _ *Backup) { h.outcomes[unitEtcd] = exited }, "RestoreFailed"},
		"etcd without answer":       {func(h *host, _ *Backup) { h.hash = rehearsal.Report{Error: "mvcc: corrupt"} }, "RestoreFailed"},
		"failed requests":           {func(h *host, _ *Backup) { h.outcomes[unitRequests] = exited }, "RequestsFailed"},
		"missing image":             {func(h *host, _ *Backup) { h.outcomes[unitMount] = exited }, "ImageNotMounted"},
		"another revision":          {func(_ *host, b *Backup) { b.Expected.Revision = 5 }, "BackupDiffers"},
		"another number":            {func(_ *host, b *Backup) { b.Expected.Keys = 5 }, "BackupDiffers"},
		"unreadable restored data":  {func(h *host, _ *Backup) { h.outcomes[unitRead] = exited }, "RestoreFailed"},
		"damaged restored data":     {func(h *host, _ *Backup) { h.restored = rehearsal.Report{Error: "page 7"} }, "RestoreFailed"},
		"a lost entry":              {func(h *host, _ *Backup) { h.restored.Restored.Entries-- }, "BackupDiffers"},
		"another entry":             {func(h *host, _ *Backup) { h.restored.Restored.EntriesHash++ }, "BackupDiffers"},
		"another restored revision": {func(h *host, _ *Backup) { h.restored.Restored.Revision-- }, "BackupDiffers"},
		"another hash":              {func(_ *host, b *Backup) { b.Expected.Hash = 5 }, "BackupDiffers"},
		"another hash of keys":      {func(_ *host, b *Backup) { b.Expected.HashKV, b.Expected.HashRevision = 5, 1973 }, "BackupDiffers"},
		"another hash revision":     {func(_ *host, b *Backup) { b.Expected.HashKV, b.Expected.HashRevision = 9, 1 }, "BackupDiffers"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			backup := h.backup()
			c.change(h, &backup)
			_, err := h.runner.Drill(t.Context(), backup)
			var failure *node.Failure
			if !errors.As(err, &failure) || failure.Reason != c.reason || failure.Remedy == "" {
				t.Errorf("%v, want %s", err, c.reason)
			}
			h.clean()
		})
	}
}

func TestFailedTaskHasItsLog(t *testing.T) {
	h := newHost(t)
	h.outcomes[unitRestore] = sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 1}
	h.logs[unitRestore] = "Error: expected sha256 [1 2], got [3 4]\n"
	_, err := h.runner.Drill(t.Context(), h.backup())
	if failure := node.FailureOf(err); !strings.Contains(failure.LogTail, "expected sha256") {
		t.Errorf("%+v", failure)
	}
}

// A killed process leaves units, mounts and files, which the next one removes first.
func TestLeftoversAreRemoved(t *testing.T) {
	h := newHost(t)
	h.running[unitEtcd] = sandbox.Outcome{}
	h.running[prefix+"of-an-older-agent"] = sandbox.Outcome{}
	dir := h.runner.file("images", "etcd-drill")
	h.mounted[dir] = true
	h.write(filepath.Join(dir, "usr/local/bin/etcd"), "")
	h.write(h.runner.file("work", "data/member/snap/db"), "old data")
	if _, err := h.runner.Drill(t.Context(), h.backup()); err != nil {
		t.Fatal(err)
	}
	h.clean()

	h.running[unitEtcd] = sandbox.Outcome{}
	if err := h.runner.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.clean()
}

// Removing the files of a mounted image is never right, even if it cannot be unmounted.
func TestImageThatStaysMountedIsKept(t *testing.T) {
	h := newHost(t)
	h.outcomes[unitUnmount] = sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 1}
	if _, err := h.runner.Drill(t.Context(), h.backup()); err == nil || !strings.Contains(err.Error(), "cannot unmount") {
		t.Error(err)
	}
	if files, err := filepath.Glob(h.runner.file("images", "*", "usr/local/bin/etcd")); err != nil || len(files) != 1 {
		t.Error("the files of the image are gone")
	}
	if exists(h.runner.file("work")) {
		t.Error("the restored data is left, without encryption")
	}
}

// A host can lose ctr between a kill and the cleanup.
func TestLeftoversAreRemovedWithoutCtr(t *testing.T) {
	h := newHost(t)
	h.runner.Ctr = ""
	dir := h.runner.file("images", "etcd-drill")
	h.mounted[dir] = true
	h.write(filepath.Join(dir, "usr/local/bin/etcd"), "")
	h.write(h.runner.file("work", "data/member/snap/db"), "old data")
	if err := h.runner.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.clean()
}

func TestDrillWithoutCtrIsRefused(t *testing.T) {
	h := newHost(t)
	h.runner.Ctr = ""
	if _, err := h.runner.Drill(t.Context(), h.backup()); err == nil || node.FailureOf(err).Reason != "CtrMissing" {
		t.Error(err)
	}
	h.clean()
}

func TestCanceledDrillIsCleanedUp(t *testing.T) {
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.runner.Progress = func(p Progress) {
		if p.Message == "restoring the backup" {
			cancel()
		}
	}
	if _, err := h.runner.Drill(ctx, h.backup()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	h.clean()
}

func TestSecondDrillIsRefused(t *testing.T) {
	h := newHost(t)
	lock, err := h.runner.lock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	h.running[unitEtcd] = sandbox.Outcome{}
	for name, run := range map[string]func() error{
		"drill": func() error { _, err := h.runner.Drill(t.Context(), h.backup()); return err },
		"clean": func() error { return h.runner.Clean(t.Context()) },
	} {
		if err := run(); err == nil || node.FailureOf(err).Reason != "RehearsalRunning" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(h.running) != 1 {
		t.Error("the units of the other drill were stopped")
	}
}

// containerd refuses the name of an image that it unmounted a moment ago.
func TestEachMountHasItsOwnName(t *testing.T) {
	h := newHost(t)
	for range 2 {
		if _, err := h.runner.Drill(t.Context(), h.backup()); err != nil {
			t.Fatal(err)
		}
	}
	var dirs []string
	for _, u := range h.started {
		if u.Name == unitMount {
			dirs = append(dirs, u.Command[len(u.Command)-1])
		}
	}
	if len(dirs) != 2 || dirs[0] == dirs[1] {
		t.Errorf("%v", dirs)
	}
}

func TestMissingBackup(t *testing.T) {
	h := newHost(t)
	if _, err := h.runner.Drill(t.Context(), Backup{File: filepath.Join(t.TempDir(), "missing"), EtcdImage: "etcd"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	h.clean()
}

func TestNeededSpace(t *testing.T) {
	if got := NeededSpace(8 << 30); got < 9<<30 || got > 12<<30 {
		t.Errorf("8 GB need %d bytes", got)
	}
}
