package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// repack builds a package file from an installed package, as dpkg-repack does: a host without any
// repository can be rolled back, too.
//
//  1. The tree: every path that the package owns, as it is on the disk.
//  2. The control files that dpkg kept, with the checksums of the packed files.
//  3. dpkg-deb builds it with little compression: it is read once, or never.
func (d deb) repack(ctx context.Context, work, name string) (string, error) {
	tree := filepath.Join(work, "tree")
	control := filepath.Join(tree, "DEBIAN")
	if err := os.MkdirAll(control, 0o755); err != nil { // dpkg-deb demands this mode
		return "", fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	if err := os.Chmod(control, 0o755); err != nil { // whatever the umask is
		return "", fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	conffiles, err := d.conffiles(ctx, name)
	if err != nil {
		return "", err
	}
	files, err := d.copyTree(ctx, tree, name, conffiles)
	if err != nil {
		return "", err
	}
	if err := d.control(ctx, control, name); err != nil {
		return "", err
	}
	if err := writeSums(tree, control, files, conffiles); err != nil {
		return "", err
	}
	packed := filepath.Join(work, "repacked.deb")
	if _, err := output(exec.CommandContext(ctx, "dpkg-deb", "-Zgzip", "-z1", "--nocheck", "--build", tree, packed)); err != nil {
		return "", d.failed(err, "RepackFailed", "cannot repack the installed "+name)
	}
	return packed, nil
}

// conffiles returns the package's configuration files, and whether each is unchanged.
func (d deb) conffiles(ctx context.Context, name string) (unchanged map[string]bool, err error) {
	out, err := d.query(ctx, "--show", "--showformat=${Conffiles}", "--", name)
	if err != nil {
		return nil, wrap(err, "cannot list the configuration files of %s", name)
	}
	unchanged = map[string]bool{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		sum, err := md5Of(d.onDisk(f[0]))
		obsolete := len(f) > 2
		unchanged[f[0]] = err == nil && sum == f[1] && !obsolete
	}
	return unchanged, nil
}

// copyTree creates the tree and returns its regular files.
//
// It omits configuration files that were changed. With such a file, dpkg would take the changed
// text for the package's own, and a later upgrade would overwrite it without a question. Without
// it, dpkg keeps the file and its checksum.
func (d deb) copyTree(ctx context.Context, tree, name string, unchanged map[string]bool) (files []string, err error) {
	paths, locations, err := d.listed(ctx, name)
	if err != nil {
		return nil, err
	}
	parents := map[string]bool{}
	for _, path := range paths {
		parents[filepath.Dir(path)] = true
	}
	for _, path := range paths {
		same, isConf := unchanged[path]
		if path == "/" || isConf && !same {
			continue
		}
		regular, err := copyPath(d.onDisk(locations[path]), filepath.Join(tree, path), parents[path])
		if errors.Is(err, os.ErrNotExist) {
			continue // excluded at installation (path-exclude), or removed since
		}
		if err != nil {
			return nil, err
		}
		if regular {
			files = append(files, path)
		}
	}
	return files, nil
}

func (d deb) onDisk(path string) string { return filepath.Join(d.root, path) }

// listed returns the paths of a package and the location of each file, which differs if it is
// diverted.
func (d deb) listed(ctx context.Context, name string) (paths []string, locations map[string]string, err error) {
	out, err := d.query(ctx, "--listfiles", "--", name)
	if err != nil {
		return nil, nil, wrap(err, "cannot list the files of %s", name)
	}
	locations = map[string]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "/") {
			line = filepath.Clean(line)
			paths = append(paths, line)
			locations[line] = line
			continue
		}
		// `diverted by OTHER to: /path` and `locally diverted to: /path` follow their path.
		if what, to, ok := strings.Cut(line, " to: "); ok && len(paths) > 0 && !strings.HasPrefix(what, "package diverts others") {
			locations[paths[len(paths)-1]] = filepath.Clean(to)
		}
	}
	return paths, locations, nil
}

// Files returns the locations on disk.
func (d deb) Files(ctx context.Context, names ...string) ([]string, error) {
	var all []string
	for _, name := range names {
		paths, locations, err := d.listed(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			all = append(all, d.onDisk(locations[path]))
		}
	}
	return all, nil
}

// copyPath copies one path of the disk into the tree. The parent of other paths becomes a
// directory, also where the host has a link instead (/lib).
func copyPath(from, to string, parent bool) (regular bool, err error) {
	info, err := os.Lstat(from)
	if err == nil && parent {
		info, err = os.Stat(from)
	}
	if err != nil {
		return false, fmt.Errorf("cannot read an installed file: %w", err)
	}
	// Directories of the package get their own modes later.
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	switch {
	case info.IsDir():
		if err := os.MkdirAll(to, 0o755); err != nil { // its own mode follows
			return false, fmt.Errorf("cannot create the tree of a package: %w", err)
		}
		return false, copyAttributes(to, info)
	case info.Mode().Type() == os.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return false, fmt.Errorf("cannot read an installed file: %w", err)
		}
		if err := os.Symlink(target, to); err != nil {
			return false, fmt.Errorf("cannot create the tree of a package: %w", err)
		}
		return false, nil
	case info.Mode().IsRegular():
		if os.Link(from, to) == nil { // binaries have a hundred megabytes
			return true, nil
		}
		if err := copyFile(from, to); err != nil {
			return false, err
		}
		return true, copyAttributes(to, info)
	}
	return false, fmt.Errorf("%s is not a file, directory or link", from)
}

// copyAttributes copies the owner, mode and time of a file to a path.
func copyAttributes(path string, info os.FileInfo) error {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(path, int(sys.Uid), int(sys.Gid)); err != nil {
			return fmt.Errorf("cannot create the tree of a package: %w", err)
		}
	}
	mode := info.Mode() & (os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky)
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		return fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	return nil
}
