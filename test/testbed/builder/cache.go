package builder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// partialSuffix marks the directory of a running or interrupted build.
const partialSuffix = ".partial"

// A cache is a directory of entries: <component>/<version>-<key>.
type cache struct{ dir string }

// entry returns the path of a recipe's result.
func (c cache) entry(r recipe) string {
	return filepath.Join(c.dir, r.component(), r.version()+"-"+keyOf(r))
}

// has reports whether the result of a recipe exists. A build ends with a rename, so an existing
// entry is complete.
func (c cache) has(r recipe) bool {
	info, err := os.Stat(c.entry(r))
	return err == nil && info.IsDir()
}

// missing lists what must be built for the wanted recipes, in order. The needs of an existing entry
// do not matter.
func (c cache) missing(wanted ...recipe) []recipe {
	var list []recipe
	seen := map[string]bool{}
	var visit func(recipe)
	visit = func(r recipe) {
		entry := c.entry(r)
		if seen[entry] || c.has(r) {
			return
		}
		seen[entry] = true
		for _, need := range r.needs() {
			visit(need)
		}
		list = append(list, r)
	}
	for _, r := range wanted {
		visit(r)
	}
	return list
}

// begin creates the empty directory of a build.
func (c cache) begin(r recipe) (partial string, err error) {
	partial = c.entry(r) + partialSuffix
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return "", fmt.Errorf("starting entry: %w", err)
	}
	return partial, nil
}

// finish turns the directory of a successful build into the entry.
func (c cache) finish(r recipe, partial string) error {
	if err := os.Rename(partial, c.entry(r)); err != nil {
		return fmt.Errorf("finishing entry: %w", err)
	}
	return nil
}

// clear removes the leftovers of interrupted builds. The caller must hold the lock: the directory
// of a running build looks the same.
func (c cache) clear() error {
	leftovers, err := filepath.Glob(filepath.Join(c.dir, "*", "*"+partialSuffix))
	if err != nil {
		return fmt.Errorf("listing leftovers: %w", err)
	}
	for _, leftover := range leftovers {
		if err := removeTree(leftover); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes a directory that may contain a root file system. It fails while something is
// mounted below it, because it would delete through the mount: the machine's /sys or /dev.
func removeTree(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			return fmt.Errorf("removing %s: %s is still mounted; unmount it and build again", dir, fields[4])
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}
