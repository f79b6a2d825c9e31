package packages

import (
	"context"
	"crypto/md5" //nolint:gosec // dpkg's own format; nothing is trusted because of it
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// databaseFields are those that dpkg's database adds to the control file of a package.
var databaseFields = map[string]bool{
	"Status": true, "Conffiles": true, "Config-Version": true, "Triggers-Pending": true, "Triggers-Awaited": true,
}

// control writes the control file, and the maintainer scripts and other files that dpkg kept.
func (d deb) control(ctx context.Context, dir, name string) error {
	out, err := d.query(ctx, "--status", "--", name)
	if err != nil {
		return wrap(err, "cannot read the control file of %s", name)
	}
	if err := writeMode(filepath.Join(dir, "control"), withoutFields(out), 0o644); err != nil {
		return err
	}
	kept, err := d.query(ctx, "--control-path", name)
	if err != nil {
		return wrap(err, "cannot list the maintainer scripts of %s", name)
	}
	for path := range strings.FieldsSeq(kept) {
		kind := strings.TrimPrefix(filepath.Ext(path), ".")
		if kind == "md5sums" || kind == "conffiles" || kind == "list" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("cannot read a maintainer script: %w", err)
		}
		text, err := os.ReadFile(path) // in dpkg's own directory
		if err != nil {
			return fmt.Errorf("cannot read a maintainer script: %w", err)
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
			skip = databaseFields[field] || strings.TrimSpace(line) == ""
		}
		if !skip {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// writeSums writes the checksums for dpkg --verify, and the list of configuration files, whose
// checksums are in dpkg's database.
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
		return fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		return fmt.Errorf("cannot create the tree of a package: %w", err)
	}
	return nil
}

func md5Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read an installed file: %w", err)
	}
	defer func() { _ = f.Close() }()
	sum := md5.New() //nolint:gosec // dpkg's own format
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
