package packages

import (
	"context"
	"sort"
	"strings"
)

// state is one package's entry in the dpkg database.
type state struct {
	name, binary  string // kubelet; binary also has the architecture where dpkg needs it
	version, arch string
	want          string   // install, hold, deinstall, purge
	flag          string   // ok, reinstreq
	status        string   // installed, unpacked, half-installed, …
	triggers      []string // pending
}

// installed reports whether the package is configured. Pending triggers do not count: the package
// works without them.
func (s state) installed() bool {
	switch s.status {
	case "installed", "triggers-awaited", "triggers-pending":
		return s.flag == "ok"
	}
	return false
}

// unfinished reports whether dpkg started something on this package that it did not finish.
func (s state) unfinished() bool {
	switch s.status {
	case "installed", "not-installed", "config-files":
		return s.flag == "reinstreq"
	}
	return s.status != ""
}

// interrupted is unfinished, but for triggers.
func (s state) interrupted() bool { return s.unfinished() && !s.installed() }

// unconfigured reports whether `dpkg --configure` has work to do, and can do it.
func (s state) unconfigured() bool {
	return s.flag == "ok" && (s.status == "unpacked" || s.status == "half-configured")
}

// text is the state in dpkg's words.
func (s state) text() string {
	return strings.TrimSpace(s.status + " " + strings.TrimPrefix(s.flag, "ok"))
}

const stateFormat = `${Package}\t${binary:Package}\t${Version}\t${Architecture}\t` +
	`${db:Status-Want}\t${db:Status-Eflag}\t${db:Status-Status}\t${Triggers-Pending}\n`

// list returns the entries of the names, or of all packages in the dpkg database.
func (d deb) list(ctx context.Context, names ...string) ([]state, error) {
	if err := checkNames(names); err != nil {
		return nil, err
	}
	out, err := d.query(ctx, append([]string{"--show", "--showformat=" + stateFormat, "--"}, names...)...)
	if err != nil && exitCode(err) != 1 { // 1: some names are unknown
		return nil, wrap(err, "cannot list packages")
	}
	var all []state
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 8 {
			continue
		}
		all = append(all, state{
			name: f[0], binary: f[1], version: f[2], arch: f[3], want: f[4], flag: f[5], status: f[6],
			triggers: strings.Fields(f[7]),
		})
	}
	return all, nil
}

// states returns the entries of the names by name. Of several architectures, an installed one
// counts.
func (d deb) states(ctx context.Context, names ...string) (map[string]state, error) {
	if len(names) == 0 {
		return nil, nil // never those of all packages
	}
	all, err := d.list(ctx, names...)
	if err != nil {
		return nil, err
	}
	found := map[string]state{}
	for _, s := range all {
		if before, seen := found[s.name]; seen && before.installed() && !s.installed() {
			continue
		}
		found[s.name] = s
	}
	return found, nil
}

func sortedNames(of map[string]state, which func(state) bool) []string {
	var names []string
	for name, s := range of {
		if which(s) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
