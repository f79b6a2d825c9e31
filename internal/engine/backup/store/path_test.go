package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
	"github.com/refit-dev/refit/internal/engine/durable/durabletest"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

const testKey = "prod/0a1b2c3d-0000-4000-8000-00000000000a/1/etcd.db.zst.age"

func testPath(t *testing.T) (*Path, string) {
	t.Helper()
	dir := t.TempDir()
	p, err := OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

func TestPath(t *testing.T) {
	p, _ := testPath(t)
	testStore(t, p)
}

func TestPathIsNotCreated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not-mounted")
	p, err := OpenPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Put(t.Context(), testKey, strings.NewReader("x")); !errors.Is(err, backup.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was created: %v", err)
	}
}

func TestSymlinksDoNotLeaveThePath(t *testing.T) {
	p, dir := testPath(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "1", "etcd.db.zst.age")
	if err := errors.Join(os.Mkdir(filepath.Dir(secret), 0o700), os.WriteFile(secret, []byte("secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	uid := filepath.Join(dir, "prod", "0a1b2c3d-0000-4000-8000-00000000000a")
	if err := errors.Join(os.Mkdir(filepath.Dir(uid), 0o700), os.Symlink(outside, uid)); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if err := p.Put(ctx, testKey, strings.NewReader("x")); err == nil {
		t.Error("Put follows the symlink")
	}
	if _, err := p.Get(ctx, testKey); err == nil {
		t.Error("Get follows the symlink")
	}
	if err := p.Delete(ctx, testKey); err == nil {
		t.Error("Delete follows the symlink")
	}
	if objects, err := p.List(ctx, "prod/"); err != nil || len(objects) != 0 {
		t.Errorf("List follows the symlink: %v %v", objects, err)
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
}

func TestSymlinkIsNoObject(t *testing.T) {
	p, dir := testPath(t)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "a"), nil, 0o600), os.Symlink("a", filepath.Join(dir, "b"))); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Get(t.Context(), "b"); !errors.Is(err, backup.ErrCorrupt) {
		t.Errorf("Get: %v", err)
	}
	if _, err := p.Stat(t.Context(), "b"); !errors.Is(err, backup.ErrCorrupt) {
		t.Errorf("Stat: %v", err)
	}
}

func TestFailedSyncStoresNothing(t *testing.T) {
	p, _ := testPath(t)
	durabletest.SyncFile(t, func(file *os.File, sync func(*os.File) error) error {
		if isTemp(file) {
			return syscall.ENOSPC
		}
		return sync(file)
	})
	if err := p.Put(t.Context(), testKey, strings.NewReader("x")); !errors.Is(err, backup.ErrFull) {
		t.Errorf("got %v", err)
	}
	if objects, err := p.List(t.Context(), ""); err != nil || len(objects) != 0 {
		t.Errorf("left %v, %v", objects, err)
	}
}

// isTemp reports whether a file is one that Put writes.
func isTemp(file *os.File) bool { return strings.HasSuffix(file.Name(), ".refit-tmp") }

// large is the content of an object with several syncs.
func large() []byte {
	content := make([]byte, 2*syncEvery+writeSize+1)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content) // never fails
	return content
}

func TestLargeObjectIsSyncedWhileItIsWritten(t *testing.T) {
	p, _ := testPath(t)
	content := large()
	var sizes []int64
	durabletest.SyncFile(t, func(file *os.File, sync func(*os.File) error) error {
		if info, err := file.Stat(); err == nil && isTemp(file) {
			sizes = append(sizes, info.Size())
		}
		return sync(file)
	})
	if err := p.Put(t.Context(), testKey, iotest.HalfReader(bytes.NewReader(content))); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 3 || sizes[2] != int64(len(content)) {
		t.Errorf("synced at %v bytes, the object has %d", sizes, len(content))
	}
	body, err := p.Get(t.Context(), testKey)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d of %d bytes, %v", len(got), len(content), err)
	}
}

// A sync reports an error once: later ones succeed although bytes are lost.
func TestFailedSyncBesideTheWritesStoresNothing(t *testing.T) {
	p, _ := testPath(t)
	failed := false
	durabletest.SyncFile(t, func(file *os.File, sync func(*os.File) error) error {
		if isTemp(file) && !failed {
			failed = true
			return syscall.EIO
		}
		return sync(file)
	})
	if err := p.Put(t.Context(), testKey, bytes.NewReader(large())); !errors.Is(err, backup.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if objects, err := p.List(t.Context(), ""); err != nil || len(objects) != 0 {
		t.Errorf("left %v, %v", objects, err)
	}
}

func TestInterruptedWriteIsListedAndDeleted(t *testing.T) {
	p, dir := testPath(t)
	temp := filepath.Join(dir, filepath.FromSlash(tempOf(testKey)))
	if err := errors.Join(os.MkdirAll(filepath.Dir(temp), 0o700), os.WriteFile(temp, []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	objects, err := p.List(t.Context(), "prod/")
	if err != nil || len(objects) != 1 || objects[0].Key != testKey || !objects[0].Partial || objects[0].Size != 4 {
		t.Fatalf("got %+v, %v", objects, err)
	}
	if err := p.Delete(t.Context(), testKey); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestHangingWriteEnds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := &Path{dir, Stall}
		hang, release := io.Pipe()
		err := p.Put(t.Context(), testKey, hang)
		if !errors.Is(err, backup.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
		_ = release.Close()
		synctest.Wait()
	})
	p := &Path{dir, Stall}
	if objects, err := p.List(t.Context(), ""); err != nil || len(objects) != 0 {
		t.Errorf("left %v, %v", objects, err)
	}
}

func TestHangingReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, release := io.Pipe()
		body := boundReader(t.Context(), Stall, hang)
		if _, err := body.Read(make([]byte, 1)); !errors.Is(err, backup.ErrUnreachable) {
			t.Errorf("got %v", err)
		}
		_, _ = body.Close(), release.Close()
	})
}

func TestCanceledReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hang, release := io.Pipe()
		body := boundReader(ctx, Stall, hang)
		go cancel()
		if _, err := body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		_, _ = body.Close(), release.Close()
	})
}

// panicking is a body whose Read panics.
type panicking struct{ io.ReadCloser }

func (panicking) Read([]byte) (int, error) { panic("a bug") }

func (panicking) Close() error { return nil }

// In its own goroutine, a panic would end the agent.
func TestPanicOfAStoreIsAnError(t *testing.T) {
	err := bounded(t.Context(), Stall, func(context.Context, func()) error { panic("a bug") })
	if _, is := errors.AsType[*recovered.Panic](err); !is {
		t.Errorf("got %v", err)
	}
	body := boundReader(t.Context(), Stall, panicking{})
	if _, err := body.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	} else if _, is := errors.AsType[*recovered.Panic](err); !is {
		t.Errorf("got %v", err)
	}
	_ = body.Close()
}

func TestErrorsOfFileSystemsHaveAClass(t *testing.T) {
	for code, want := range map[error]error{
		syscall.ENOSPC: backup.ErrFull, syscall.EDQUOT: backup.ErrFull,
		syscall.EACCES: backup.ErrDenied, syscall.EROFS: backup.ErrDenied,
		syscall.ENOENT: backup.ErrNotFound,
		syscall.EIO:    backup.ErrUnreachable, syscall.ESTALE: backup.ErrUnreachable,
		syscall.EINVAL: nil, errors.New("path escapes from parent"): nil,
	} {
		if got := classOf(&os.PathError{Op: "write", Path: "x", Err: code}); !errors.Is(got, want) {
			t.Errorf("%v: got %v, want %v", code, got, want)
		}
	}
}

func TestErrorOfTheSourceIsReturned(t *testing.T) {
	p, _ := testPath(t)
	err := p.Put(t.Context(), testKey, iotest.ErrReader(io.ErrUnexpectedEOF))
	if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, backup.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}
