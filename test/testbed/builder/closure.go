package builder

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxLinks stops a loop of symbolic links.
const maxLinks = 40

// A closure collects binaries from a root directory with everything they need to run: symbolic
// links, ELF interpreter, libraries. It reads the files and runs none.
type closure struct {
	root  string
	files map[string]layerFile
}

func newClosure(root string) *closure {
	return &closure{root: root, files: map[string]layerFile{}}
}

// add adds a path of the root, and what it needs.
func (c *closure) add(file string) error {
	plain, err := c.follow(file)
	if err != nil {
		return err
	}
	if _, taken := c.files[plain]; taken {
		return nil
	}
	source := filepath.Join(c.root, plain)
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	c.files[plain] = layerFile{path: plain, mode: info.Mode().Perm(), source: source}
	return c.addNeeds(source)
}

// follow resolves a path inside the root, adds every symbolic link on the way (such as /lib), and
// returns the path without links.
func (c *closure) follow(file string) (string, error) {
	rest, done, links := strings.Split(strings.Trim(file, "/"), "/"), "/", 0
	for len(rest) > 0 {
		next := path.Join(done, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(filepath.Join(c.root, next))
		if err != nil {
			if _, missing := os.Lstat(filepath.Join(c.root, next)); missing != nil {
				return "", missing
			}
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many symbolic links", file)
		}
		c.files[next] = layerFile{path: next, link: target}
		if path.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
	}
	return done, nil
}

// addNeeds adds the interpreter and the libraries of an ELF file.
func (c *closure) addNeeds(source string) error {
	file, err := elf.Open(source)
	var notELF *elf.FormatError
	if errors.As(err, &notELF) || errors.Is(err, io.EOF) {
		return nil // a script or data
	}
	if err != nil {
		return err
	}
	defer file.Close()
	for _, section := range file.Progs {
		if section.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, section.Filesz)
		if _, err := section.ReadAt(name, 0); err != nil {
			return fmt.Errorf("reading the interpreter of %s: %w", source, err)
		}
		if err := c.add(strings.TrimRight(string(name), "\x00")); err != nil {
			return err
		}
	}
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("reading the libraries of %s: %w", source, err)
	}
	for _, library := range libraries {
		if err := c.addLibrary(library); err != nil {
			return err
		}
	}
	return nil
}

// addLibrary adds a library from the library directories of the root.
func (c *closure) addLibrary(name string) error {
	for _, pattern := range []string{"usr/lib/*-linux-*", "usr/lib64", "usr/lib"} {
		found, err := filepath.Glob(filepath.Join(c.root, pattern, name))
		if err == nil && len(found) > 0 {
			return c.add(found[0][len(c.root):])
		}
	}
	return fmt.Errorf("library %s: %w", name, fs.ErrNotExist)
}

// layerFiles returns everything that was added.
func (c *closure) layerFiles() []layerFile {
	files := make([]layerFile, 0, len(c.files))
	for _, file := range c.files {
		files = append(files, file)
	}
	return files
}
