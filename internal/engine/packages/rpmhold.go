package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// lockList is the list of dnf's versionlock plugin. Without the plugin, a host has no holds: rpm
// knows none, and an exclude= in the configuration of dnf does not depend on a version.
const lockList = "/etc/dnf/plugins/versionlock.list"

// lockSyntax is an entry of the list: NAME-EPOCH:VERSION-RELEASE.ARCH. A leading ! excludes a
// version and is no hold.
var lockSyntax = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._+-]*?)-(?:[0-9*]+:)?[^-:\s]+-[^-:\s]+$`)

// lockedName returns the package of an entry, or "" for comments, exclusions and patterns.
func lockedName(line string) string {
	if match := lockSyntax.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
		return match[1]
	}
	return ""
}

func (r rpm) lockLines() ([]string, error) {
	text, err := os.ReadFile(r.onDisk(lockList))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the locked versions: %w", err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// Held returns the packages that `dnf versionlock` has locked.
func (r rpm) Held(context.Context) ([]string, error) {
	lines, err := r.lockLines()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range lines {
		if name := lockedName(line); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// relock locks the named packages at their new versions: dnf would return to the old ones at the
// next distro-sync. It edits the list, since dnf itself would need its repositories.
func (r rpm) relock(archives []archive, hold []string) error {
	lines, err := r.lockLines()
	if err != nil || len(lines) == 0 {
		return err
	}
	before := slices.Clone(lines)
	for _, a := range archives {
		if slices.Contains(hold, a.name) {
			lines = relocked(lines, a)
		}
	}
	if slices.Equal(lines, before) {
		return nil
	}
	return durable.ReplaceFile(r.onDisk(lockList), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// relocked replaces the entries of a package by one of its version.
func relocked(lines []string, a archive) []string {
	version := a.version
	if !strings.Contains(version, ":") {
		version = "0:" + version
	}
	entry := a.name + "-" + version + ".*"
	var out []string
	for _, line := range lines {
		if lockedName(line) == a.name {
			if slices.Contains(out, entry) {
				continue
			}
			line = entry
		}
		out = append(out, line)
	}
	if !slices.Contains(out, entry) {
		out = append(out, entry)
	}
	return out
}
