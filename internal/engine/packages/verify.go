package packages

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// unneeded are folders whose files small hosts leave out by dpkg's path-exclude, which dpkg then calls missing.
var unneeded = []string{"/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/lintian/"}

// Verify has the packages' state, and what dpkg --verify sees of their files.
func (d deb) Verify(ctx context.Context, names []string) ([]string, error) {
	found, err := d.states(ctx, names...)
	if err != nil {
		return nil, err
	}
	var problems, whole []string
	for _, name := range names {
		s, known := found[name]
		switch {
		case known && s.installed():
			whole = append(whole, name)
		case known && s.interrupted():
			problems = append(problems, fmt.Sprintf("%s is %s", name, s.text()))
		default:
			problems = append(problems, name+" is not installed")
		}
	}
	if len(whole) == 0 {
		return problems, nil
	}
	changed, err := d.changed(ctx, whole)
	return append(problems, changed...), err
}

// changed are the files that are not as their package brought them.
func (d deb) changed(ctx context.Context, names []string) ([]string, error) {
	out, err := output(exec.CommandContext(ctx, "dpkg", append(append(append([]string{}, d.flags...), "--verify"), names...)...))
	if err != nil && exitCode(err) != 1 {
		return nil, wrap(err, "asking dpkg whether the files are as they were installed")
	}
	var problems []string
	for line := range strings.Lines(out) {
		if what, path, counts := readVerified(line); counts {
			problems = append(problems, path+" "+what)
		}
	}
	return problems, nil
}

// readVerified reads one line: `??5??????   /path` or `missing   c /path`.
func readVerified(line string) (what, path string, counts bool) {
	line = strings.TrimSpace(line)
	at := strings.IndexByte(line, '/')
	if at < 0 {
		return "", "", false
	}
	fields := strings.Fields(line[:at])
	if len(fields) == 0 || len(fields) > 1 && fields[1] == "c" {
		return "", "", false
	}
	path = line[at:]
	for _, prefix := range unneeded {
		if fields[0] == "missing" && strings.HasPrefix(path+"/", prefix) {
			return "", "", false
		}
	}
	if fields[0] == "missing" {
		return "is missing", path, true
	}
	return "was changed", path, true
}
