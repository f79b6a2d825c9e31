package builder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// partialSuffix marks a directory that a build is filling or left behind.
const partialSuffix = ".partial"

// A cache is a directory of entries: <component>/<version>-<key>.
type cache struct{ dir string }

// entry is where a recipe's result is, or will be.
func (c cache) entry(r recipe) string {
	return filepath.Join(c.dir, r.component(), r.version()+"-"+keyOf(r))
}

// has says whether a recipe's result is there. The rename at the end of a build
// makes existence enough.
func (c cache) has(r recipe) bool {
	info, err := os.Stat(c.entry(r))
	return err == nil && info.IsDir()
}

// missing lists what must be built for the wanted recipes, each once and after
// what it needs. The needs of an entry that is there do not matter any more.
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

// begin makes the empty directory in which a recipe builds.
func (c cache) begin(r recipe) (partial string, err error) {
	partial = c.entry(r) + partialSuffix
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return "", fmt.Errorf("beginning entry: %w", err)
	}
	return partial, nil
}

// finish turns the directory of a build that succeeded into the entry.
func (c cache) finish(r recipe, partial string) error {
	if err := os.Rename(partial, c.entry(r)); err != nil {
		return fmt.Errorf("finishing entry: %w", err)
	}
	return nil
}

// clear removes what interrupted builds left behind. Call it only with the lock
// held: the directory of a build under way looks the same.
func (c cache) clear() error {
	leftovers, err := filepath.Glob(filepath.Join(c.dir, "*", "*"+partialSuffix))
	if err != nil {
		return fmt.Errorf("looking for leftovers: %w", err)
	}
	for _, leftover := range leftovers {
		if err := removeTree(leftover); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes a directory in which a root file system may have been set
// up. It refuses while something is mounted below, because it would delete
// through the mount: the machine's own /sys or /dev.
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
