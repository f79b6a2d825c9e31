package text

import "strings"

// Examples formats the examples of a command's help: each is a comment, which begins with #, and
// the arguments of a command line.
func Examples(name string, lines ...string) string {
	var out []string
	for i, line := range lines {
		switch {
		case !strings.HasPrefix(line, "#"):
			line = name + " " + line
		case i > 0:
			line = "\n  " + line
		}
		out = append(out, "  "+line)
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), "  \n", "\n")
}
