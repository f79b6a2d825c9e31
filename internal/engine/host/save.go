package host

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Save copies files and symlinks with their targets into dir, and records missing ones. It saves
// each file only once: after a change the host no longer has the original.
func Save(dir string, paths []string) error {
	s, err := openSaved(dir)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if s.files[path] != nil {
			continue
		}
		if err := s.save(path); err != nil {
			return err
		}
		if err := s.saveTarget(path); err != nil {
			return err
		}
	}
	return s.store()
}

// saveTarget copies the file that a symlink leads to.
func (s *Saved) saveTarget(path string) error {
	r := s.files[path]
	if r.Before.Link == "" {
		return nil
	}
	target, err := writtenBy(path)
	if err != nil {
		return durable.Explain(err, "resolve", path)
	}
	r.Target = target
	if s.files[target] != nil {
		return nil
	}
	return s.save(target)
}

// save copies one file. The digest is that of the copy, even if the file has changed since it was
// inspected.
func (s *Saved) save(path string) error {
	if err := durable.CheckPath(path); err != nil {
		return err
	}
	entry, err := inspect(path)
	if err != nil {
		return err
	}
	if entry.Dir {
		return fmt.Errorf("cannot save %s: it is a directory", path)
	}
	if entry.Digest != "" {
		text, err := readSmall(path)
		if err != nil {
			return durable.Explain(err, "save", path)
		}
		entry.Digest = digestOfBytes(text)
		if err := s.keep(entry.Digest, text); err != nil {
			return durable.Explain(err, "save", path)
		}
	}
	s.files[path] = &record{Before: entry}
	return nil
}

// keep stores content under its digest, unless an interrupted run has done so.
func (s *Saved) keep(digest string, text []byte) error {
	blob := s.blob(digest)
	if have, err := Digest(blob); err == nil && have == digest {
		return nil
	}
	// The directory is synced once for all copies, before the index that names them.
	temp := durable.Temp(blob)
	err := durable.Create(temp, durable.Attributes{Mode: 0o600, Owner: durable.Caller}, func(file *os.File) error {
		_, err := file.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return os.Rename(temp, blob)
}

func readSmall(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSaved+1))
	if err == nil && len(text) > maxSaved {
		return nil, node.ManualIntervention("TooLargeToSave", nil, "Move "+path+" to another directory, then run `refit retry`",
			"%s has more than %d MiB, which is no configuration", path, maxSaved>>20)
	}
	return text, err
}
