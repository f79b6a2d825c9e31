package packages

import (
	"context"
	"crypto/md5" //nolint:gosec // dpkg's own format. Nothing is trusted because of it.
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// repack makes a package file of an installed package, as dpkg-repack does: so that there is a way back on a host without any repository.
//
//  1. The tree: every path that the package owns, as it is on the disk.
//  2. The control files: what dpkg kept of them, with the sums of the files that are packed.
//  3. dpkg-deb builds it, lightly compressed: it is read once, or never.
func (d deb) repack(ctx context.Context, work, name string) (string, error) {
	tree := filepath.Join(work, "tree")
	control := filepath.Join(tree, "DEBIAN")
	if err := os.MkdirAll(control, 0o755); err != nil { // dpkg-deb asks for this mode.
		return "", fmt.Errorf("making a package's tree: %w", err)
	}
	if err := os.Chmod(control, 0o755); err != nil { // Also where the umask is narrow.
		return "", fmt.Errorf("making a package's tree: %w", err)
	}
	conffiles, err := d.conffiles(ctx, name)
	if err != nil {
		return "", err
	}
	files, err := d.grow(ctx, tree, name, conffiles)
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
		return "", d.failed(err, "RepackFailed", "building a package of the installed "+name)
	}
	return packed, nil
}

// conffiles are the package's configuration files, with whether they are as the package brought them.
func (d deb) conffiles(ctx context.Context, name string) (unchanged map[string]bool, err error) {
	out, err := d.query(ctx, "--show", "--showformat=${Conffiles}", "--", name)
	if err != nil {
		return nil, wrap(err, "asking dpkg for the configuration files of %s", name)
	}
	unchanged = map[string]bool{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		sum, err := md5Of(d.onDisk(f[0]))
		unchanged[f[0]] = err == nil && sum == f[1] && len(f) == 2 // A third word says that it is obsolete.
	}
	return unchanged, nil
}

// grow makes the tree and returns its regular files.
//
// A configuration file that somebody changed is left out. With it, dpkg would take the changed text for the package's own, and a later upgrade would
// overwrite it without a word. Without it, dpkg keeps the file and what it knows of it.
func (d deb) grow(ctx context.Context, tree, name string, unchanged map[string]bool) (files []string, err error) {
	paths, lies, err := d.listed(ctx, name)
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
		regular, err := plant(d.onDisk(lies[path]), filepath.Join(tree, path), parents[path])
		if errors.Is(err, os.ErrNotExist) {
			continue // Left out when it was installed (path-exclude), or removed since.
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

// listed are the paths of a package, and where the file of each lies: somewhere else when it is diverted.
func (d deb) listed(ctx context.Context, name string) (paths []string, lies map[string]string, err error) {
	out, err := d.query(ctx, "--listfiles", "--", name)
	if err != nil {
		return nil, nil, wrap(err, "asking dpkg for the files of %s", name)
	}
	lies = map[string]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "/") {
			line = filepath.Clean(line)
			paths = append(paths, line)
			lies[line] = line
			continue
		}
		// `diverted by OTHER to: /path` and `locally diverted to: /path` follow the path that they are about.
		if what, to, ok := strings.Cut(line, " to: "); ok && len(paths) > 0 && !strings.HasPrefix(what, "package diverts others") {
			lies[paths[len(paths)-1]] = filepath.Clean(to)
		}
	}
	return paths, lies, nil
}

// plant puts one path of the disk into the tree. One that others lie below is a directory, also where the host has a link instead (/lib).
func plant(from, to string, parent bool) (regular bool, err error) {
	info, err := os.Lstat(from)
	if err == nil && parent {
		info, err = os.Stat(from)
	}
	if err != nil {
		return false, fmt.Errorf("reading an installed file: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { // The package's own directories follow with their own modes.
		return false, fmt.Errorf("making a package's tree: %w", err)
	}
	switch {
	case info.IsDir():
		if err := os.MkdirAll(to, 0o755); err != nil { // Its own mode follows.
			return false, fmt.Errorf("making a package's tree: %w", err)
		}
		return false, liken(to, info)
	case info.Mode().Type() == os.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return false, fmt.Errorf("reading an installed file: %w", err)
		}
		if err := os.Symlink(target, to); err != nil {
			return false, fmt.Errorf("making a package's tree: %w", err)
		}
		return false, nil
	case info.Mode().IsRegular():
		if os.Link(from, to) == nil { // No copy of a hundred megabytes where it is not needed.
			return true, nil
		}
		if err := copyFile(from, to); err != nil {
			return false, err
		}
		return true, liken(to, info)
	}
	return false, fmt.Errorf("%s is neither file, directory nor link", from)
}

// liken gives a path the owner, mode and time of another.
func liken(path string, info os.FileInfo) error {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(path, int(sys.Uid), int(sys.Gid)); err != nil {
			return fmt.Errorf("making a package's tree: %w", err)
		}
	}
	mode := info.Mode() & (os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky)
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("making a package's tree: %w", err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		return fmt.Errorf("making a package's tree: %w", err)
	}
	return nil
}

// ofDatabase are the fields that dpkg's database adds to a package's own.
var ofDatabase = map[string]bool{
	"Status": true, "Conffiles": true, "Config-Version": true, "Triggers-Pending": true, "Triggers-Awaited": true,
}

// control writes the control file, and the scripts and the like that dpkg kept.
func (d deb) control(ctx context.Context, dir, name string) error {
	out, err := d.query(ctx, "--status", "--", name)
	if err != nil {
		return wrap(err, "asking dpkg for the control file of %s", name)
	}
	if err := writeMode(filepath.Join(dir, "control"), withoutFields(out), 0o644); err != nil {
		return err
	}
	kept, err := d.query(ctx, "--control-path", name)
	if err != nil {
		return wrap(err, "asking dpkg for the scripts of %s", name)
	}
	for path := range strings.FieldsSeq(kept) {
		kind := strings.TrimPrefix(filepath.Ext(path), ".")
		if kind == "md5sums" || kind == "conffiles" || kind == "list" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("reading a script of a package: %w", err)
		}
		text, err := os.ReadFile(path) // dpkg's own directory.
		if err != nil {
			return fmt.Errorf("reading a script of a package: %w", err)
		}
		if err := writeMode(filepath.Join(dir, kind), string(text), info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

func withoutFields(stanza string) string {
	var kept strings.Builder
	skip := false
	for line := range strings.Lines(stanza) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			field, _, _ := strings.Cut(line, ":")
			skip = ofDatabase[field] || strings.TrimSpace(line) == ""
		}
		if !skip {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// writeSums writes the sums by which dpkg --verify knows the files, and the list of configuration files, which it knows by itself.
func writeSums(tree, control string, files []string, unchanged map[string]bool) error {
	var list, conf strings.Builder
	for _, path := range files {
		if unchanged[path] {
			fmt.Fprintln(&conf, path)
			continue
		}
		sum, err := md5Of(filepath.Join(tree, path))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s  %s\n", sum, strings.TrimPrefix(path, "/"))
	}
	if conf.Len() > 0 {
		if err := writeMode(filepath.Join(control, "conffiles"), conf.String(), 0o644); err != nil {
			return err
		}
	}
	return writeMode(filepath.Join(control, "md5sums"), list.String(), 0o644)
}

func writeMode(path, text string, mode os.FileMode) error {
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return fmt.Errorf("making a package's tree: %w", err)
	}
	if err := os.Chmod(path, mode); err != nil { // Also where the umask is narrow.
		return fmt.Errorf("making a package's tree: %w", err)
	}
	return nil
}

func md5Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading an installed file: %w", err)
	}
	defer func() { _ = f.Close() }()
	sum := md5.New() //nolint:gosec // dpkg's own format.
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
