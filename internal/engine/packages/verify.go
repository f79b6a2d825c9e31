package packages

import (
	"context"
	"os/exec"
	"slices"
	"strings"
)

// excludable are directories that small hosts exclude with dpkg's path-exclude. dpkg --verify
// reports their files as missing.
var excludable = []string{"/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/lintian/"}

// optionalFiles are rpm's marks of documentation, licenses, readmes and ghosts.
var optionalFiles = []string{"d", "l", "r", "g"}

// verify returns the problems of packages: the state of those that are not installed, and the
// changed files of the others. fault returns what is wrong with the state of a package.
func verify(names []string, fault func(name string) string, changed func(installed []string) ([]string, error)) ([]string, error) {
	var problems, installed []string
	for _, name := range names {
		if what := fault(name); what != "" {
			problems = append(problems, name+" is "+what)
		} else {
			installed = append(installed, name)
		}
	}
	if len(installed) == 0 {
		return problems, nil
	}
	files, err := changed(installed)
	return append(problems, files...), err
}

const notInstalled = "not installed"

// Verify checks the state of the packages, and their files with dpkg --verify.
func (d deb) Verify(ctx context.Context, names []string) ([]string, error) {
	found, err := d.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	fault := func(name string) string {
		switch s := found[name]; {
		case s.installed():
			return ""
		case s.interrupted():
			return s.text()
		}
		return notInstalled
	}
	return verify(names, fault, func(installed []string) ([]string, error) { return d.changed(ctx, installed) })
}

// changed returns the files that differ from their packages.
func (d deb) changed(ctx context.Context, names []string) ([]string, error) {
	out, err := output(exec.CommandContext(ctx, "dpkg", append(append(append([]string{}, d.flags...), "--verify"), names...)...))
	if err != nil && exitCode(err) != 1 {
		return nil, wrap(err, "cannot verify the files of packages")
	}
	return changedFiles(out), nil
}

// changedFiles returns the problems in what dpkg --verify or rpm --verify printed.
func changedFiles(verified string) []string {
	var problems []string
	for line := range strings.Lines(verified) {
		if problem, path, counts := parseVerified(line); counts {
			problems = append(problems, path+" "+problem)
		}
	}
	return problems
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
