package packages

import (
	"context"
	"sort"
	"strings"
)

// state is what dpkg's database says of one package.
type state struct {
	version, arch string
	want          string // install, hold, deinstall, purge
	flag          string // ok, reinstreq
	status        string // installed, unpacked, half-installed, …
}

// whole says that the package is there, configured and not marked as broken. Triggers that other packages wait for do not make it less.
func (s state) whole() bool {
	switch s.status {
	case "installed", "triggers-awaited", "triggers-pending":
		return s.flag == "ok"
	}
	return false
}

// torn says that something began and did not end.
func (s state) torn() bool {
	switch s.status {
	case "installed", "not-installed", "config-files":
		return s.flag == "reinstreq"
	}
	return true
}

const stateFormat = `${Package}\t${Version}\t${Architecture}\t${db:Status-Want}\t${db:Status-Eflag}\t${db:Status-Status}\n`

// states are those of the names, or of all packages that dpkg knows.
func (d deb) states(ctx context.Context, names ...string) (map[string]state, error) {
	if err := checkNames(names); err != nil {
		return nil, err
	}
	out, err := d.query(ctx, append([]string{"--show", "--showformat=" + stateFormat, "--"}, names...)...)
	if err != nil && exitCode(err) != 1 { // 1: some are not known
		return nil, wrap(err, "asking dpkg what is installed")
	}
	found := map[string]state{}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 6 {
			continue
		}
		s := state{version: f[1], arch: f[2], want: f[3], flag: f[4], status: f[5]}
		if before, seen := found[f[0]]; seen && before.whole() && !s.whole() { // of another architecture
			continue
		}
		found[f[0]] = s
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
