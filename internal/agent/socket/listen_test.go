package socket

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		t.Fatalf("%s", info.Mode())
	}
	return info.Mode().Perm()
}

func TestSocketWithoutTheGroupIsForRoot(t *testing.T) {
	path := socketPath(t)
	listener, err := Listen(t.Context(), path, "no-such-group")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if got := mode(t, path); got != 0o600 {
		t.Errorf("mode %o", got)
	}
}

func TestSocketIsForTheGroup(t *testing.T) {
	own := os.Getgid()
	if os.Geteuid() == 0 {
		own = 1 // any that is not root's
	}
	group, err := user.LookupGroupId(strconv.Itoa(own))
	if err != nil {
		t.Skipf("this machine has no group %d: %v", own, err)
	}
	path := socketPath(t)
	listener, err := Listen(t.Context(), path, group.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Sys().(*syscall.Stat_t); mode(t, path) != 0o660 || int(got.Gid) != own || int(got.Uid) != os.Geteuid() {
		t.Errorf("mode %o of %d:%d", mode(t, path), got.Uid, got.Gid)
	}
}

// A killed agent does not remove its socket.
func TestStaleSocketIsReplaced(t *testing.T) {
	path := socketPath(t)
	first, err := Listen(t.Context(), path, "no-such-group")
	if err != nil {
		t.Fatal(err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	mode(t, path) // it is still there
	second, err := Listen(t.Context(), path, "no-such-group")
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	dial(t, path)
}

func TestOnlyASocketIsReplaced(t *testing.T) {
	for name, create := range map[string]func(path string) error{
		"file":      func(path string) error { return os.WriteFile(path, []byte("kept"), 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"symlink":   func(path string) error { return os.Symlink("/etc/passwd", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := socketPath(t)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), create(path)); err != nil {
				t.Fatal(err)
			}
			if listener, err := Listen(t.Context(), path, "no-such-group"); err == nil {
				listener.Close()
				t.Error("it was replaced")
			}
			if _, err := os.Lstat(path); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSocketIsRemovedAtTheEnd(t *testing.T) {
	path := socketPath(t)
	listener, err := Listen(t.Context(), path, "no-such-group")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, listener, NewHub()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}
