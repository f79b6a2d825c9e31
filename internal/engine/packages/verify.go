package packages

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// excludable are directories that small hosts exclude with dpkg's path-exclude. dpkg --verify
// reports their files as missing.
var excludable = []string{"/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/lintian/"}

// optionalFiles are rpm's marks of documentation, licenses, readmes and ghosts.
var optionalFiles = []string{"d", "l", "r", "g"}

// Verify checks the state of the packages, and their files with dpkg --verify.
func (d deb) Verify(ctx context.Context, names []string) ([]string, error) {
	found, err := d.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	var problems, installed []string
	for _, name := range names {
		s, known := found[name]
		switch {
		case known && s.installed():
			installed = append(installed, name)
		case known && s.interrupted():
			problems = append(problems, fmt.Sprintf("%s is %s", name, s.text()))
		default:
			problems = append(problems, name+" is not installed")
		}
	}
	if len(installed) == 0 {
		return problems, nil
	}
	changed, err := d.changed(ctx, installed)
	return append(problems, changed...), err
}

// changed returns the files that differ from their packages.
func (d deb) changed(ctx context.Context, names []string) ([]string, error) {
	out, err := output(exec.CommandContext(ctx, "dpkg", append(append(append([]string{}, d.flags...), "--verify"), names...)...))
	if err != nil && exitCode(err) != 1 {
		return nil, wrap(err, "cannot verify the files of packages")
	}
	var problems []string
	for line := range strings.Lines(out) {
		if problem, path, counts := parseVerified(line); counts {
			problems = append(problems, path+" "+problem)
		}
	}
	return problems, nil
}

// parseVerified parses one line of dpkg or rpm: `??5??????   /path` or `missing   c /path`.
// Configuration files (c) do not count, nor do missing files that a host can exclude: those in
// excludable and in optionalFiles.
func parseVerified(line string) (problem, path string, counts bool) {
	line = strings.TrimSpace(line)
	at := strings.IndexByte(line, '/')
	if at < 0 {
		return "", "", false
	}
	fields := strings.Fields(line[:at])
	if len(fields) == 0 {
		return "", "", false
	}
	path = line[at:]
	if len(fields) > 1 && (fields[1] == "c" || fields[0] == "missing" && slices.Contains(optionalFiles, fields[1])) {
		return "", "", false
	}
	for _, prefix := range excludable {
		if fields[0] == "missing" && strings.HasPrefix(path+"/", prefix) {
			return "", "", false
		}
	}
	if fields[0] == "missing" {
		return "is missing", path, true
	}
	return "was changed", path, true
}
