package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Path is a store in a directory, such as a mounted network file system. Its keys are file names
// below it.
type Path struct {
	dir   string
	stall time.Duration
}

// OpenPath opens the store in a directory. The directory must exist: Refit does not create it,
// because a file system that is not mounted would otherwise fill the disk of the host.
func OpenPath(dir string) (*Path, error) {
	if err := durable.CheckPath(dir); err != nil {
		return nil, err
	}
	return &Path{dir, Stall}, nil
}

// Put writes a temporary file, syncs it and gives it its name.
func (p *Path) Put(ctx context.Context, key string, from io.Reader) error {
	return p.in(ctx, "store", key, func(ctx context.Context, root *os.Root, progress func()) error {
		if err := makeDirs(root, path.Dir(key)); err != nil {
			return err
		}
		temp := tempOf(key)
		if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		file, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		err = errors.Join(fill(ctx, file, &source{from: from}, progress), file.Close())
		if err == nil {
			err = root.Rename(temp, key)
		}
		if err != nil {
			_ = root.Remove(temp) // retention removes it otherwise
			return err
		}
		return syncDir(root, path.Dir(key))
	})
}

// The sizes of writes and syncs. Each sync runs beside the writes that follow it, so at most twice
// syncEvery is not on the disk yet. A single sync at the end would take minutes without progress,
// and delay the syncs of an etcd on the same disk.
const (
	writeSize = 1 << 20
	syncEvery = 32 << 20
)

// fill writes everything to a file, and to its disk.
func fill(ctx context.Context, file *os.File, from io.Reader, progress func()) error {
	var syncing error
	var background sync.WaitGroup
	wait := func() error { background.Wait(); return syncing }
	defer background.Wait() // the caller closes the file
	buffer := make([]byte, writeSize)
	for written := 0; ; {
		n, err := io.ReadFull(&steady{ctx, from, progress}, buffer)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		if _, err := file.Write(buffer[:n]); err != nil {
			return err
		}
		if written += n; !last && written < syncEvery {
			continue
		}
		if err := wait(); err != nil {
			return err
		}
		progress()
		if last {
			// The caller may have left: its object must not appear any more.
			return cmp.Or(durable.Sync(file), ctx.Err())
		}
		written = 0
		background.Go(func() { syncing = durable.Sync(file); progress() })
	}
}

// steady is a reader that reports progress and ends with its context.
type steady struct {
	ctx      context.Context
	from     io.Reader
	progress func()
}

func (s *steady) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	s.progress()
	return s.from.Read(p)
}

// Get opens a file. It refuses everything that is not a regular file.
func (p *Path) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	found := make(chan *os.File, 1)
	err := p.in(ctx, "read", key, func(_ context.Context, root *os.Root, _ func()) error {
		if _, err := regular(root, key); err != nil {
			return err
		}
		file, err := root.Open(key)
		if err == nil {
			found <- file
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return boundReader(ctx, p.stall, classified{<-found, key}), nil
}

// classified is a file whose errors have a class. It has no other methods of a file: io.Copy would
// use them instead of Read.
type classified struct {
	file *os.File
	key  string
}

func (c classified) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // an error that wraps io.EOF is no end
		err = failure("read", c.key, classOf(err), err)
	}
	return n, err
}

func (c classified) Close() error { return c.file.Close() }

// Stat returns the size and the time of a file.
func (p *Path) Stat(ctx context.Context, key string) (object backup.Object, err error) {
	found := make(chan backup.Object, 1)
	err = p.in(ctx, "read", key, func(_ context.Context, root *os.Root, _ func()) error {
		info, err := regular(root, key)
		if err == nil {
			found <- backup.Object{Key: key, Size: info.Size(), Modified: info.ModTime()}
		}
		return err
	})
	if err != nil {
		return backup.Object{}, err
	}
	return <-found, nil
}

// List walks a directory. It skips everything that is not a regular file.
func (p *Path) List(ctx context.Context, prefix string) ([]backup.Object, error) {
	found := make(chan []backup.Object, 1)
	err := p.in(ctx, "list", prefix, func(ctx context.Context, root *os.Root, progress func()) error {
		objects, err := walk(ctx, root, strings.TrimSuffix(prefix, "/"), progress)
		if err == nil {
			found <- objects
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-found, nil
}

func walk(ctx context.Context, root *os.Root, dir string, progress func()) ([]backup.Object, error) {
	var objects []backup.Object
	if dir == "" {
		dir = "."
	}
	err := fs.WalkDir(root.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		progress()
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile, or no backup yet
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case len(objects) == maxObjects:
			return errTooMany
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		key, partial := keyOf(name)
		objects = append(objects, backup.Object{Key: key, Size: info.Size(), Modified: info.ModTime(), Partial: partial})
		return nil
	})
	return objects, err
}

// Delete removes a file, its temporary file, and directories that are empty then.
func (p *Path) Delete(ctx context.Context, key string) error {
	return p.in(ctx, "delete", key, func(_ context.Context, root *os.Root, _ func()) error {
		for _, name := range []string{tempOf(key), key} {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		dir := path.Dir(key)
		for ; dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) { //nolint:revive // the work is in the condition
		}
		err := syncDir(root, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// in runs an operation in the directory of the store. A key cannot lead out of it: os.Root refuses
// "..", and symlinks that leave it. The directory is opened each time, because it may be mounted
// again.
func (p *Path) in(ctx context.Context, verb, key string, work func(ctx context.Context, root *os.Root, progress func()) error) error {
	err := bounded(ctx, p.stall, func(ctx context.Context, progress func()) error {
		root, err := os.OpenRoot(p.dir)
		if err != nil {
			return err
		}
		defer root.Close()
		return work(ctx, root, progress)
	})
	if ours, ok := errors.AsType[sourceError](err); ok {
		return ours.err
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return failure(verb, filepath.Join(p.dir, filepath.FromSlash(key)), classOf(err), err)
}

// regular returns the description of a regular file. It does not follow a symlink.
func regular(root *os.Root, key string) (fs.FileInfo, error) {
	info, err := root.Lstat(key)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", backup.ErrCorrupt)
	}
	return info, err
}

// makeDirs creates directories, durably.
func makeDirs(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeDirs(root, path.Dir(dir)); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(root, path.Dir(dir))
}

func syncDir(root *os.Root, dir string) error {
	file, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(durable.Sync(file), file.Close())
}

// tempOf returns the temporary name of a key.
func tempOf(key string) string { return filepath.ToSlash(durable.Temp(filepath.FromSlash(key))) }

// keyOf returns the key of a file, and whether it is the temporary file of that key.
func keyOf(name string) (key string, partial bool) {
	base := path.Base(name)
	final := strings.TrimSuffix(strings.TrimPrefix(base, "."), ".refit-tmp")
	key = path.Join(path.Dir(name), final)
	if base != final && tempOf(key) == name {
		return key, true
	}
	return name, false
}
