package text

import (
	"strings"
	"time"
	"unicode/utf8"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

// Frame renders the progress of an operation for a terminal that is redrawn: no line wraps, and the
// last line of the terminal stays free for the cursor. A small terminal shows fewer active nodes:
// failures and waits matter more.
func Frame(o *cliv1alpha1.Operation, p Page, rows int, now time.Time) string {
	var lines []string
	most := max(1, rows-1)
	for nodes := activeShown; ; nodes /= 2 {
		w := newWriter(p)
		w.operation(o, now, nodes, failuresShown)
		lines = strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
		if len(lines) <= most || nodes == 0 {
			break
		}
	}
	return fitFrame(lines, p.Width, rows)
}

// fitFrame cuts lines to the size of a terminal.
func fitFrame(lines []string, columns, rows int) string {
	lines = lines[:min(len(lines), max(1, rows-1))]
	for i := range lines {
		lines[i] = clipLine(lines[i], columns)
	}
	return strings.Join(lines, "\n") + "\n"
}

// clipLine cuts a line to a number of columns. Colors take no column, and are reset.
func clipLine(line string, columns int) string {
	used := 0
	for at := 0; at < len(line); {
		if code := colorAt(line[at:]); code != "" {
			at += len(code)
			continue
		}
		if used++; used > columns {
			if strings.Contains(line[:at], "\x1b") {
				return line[:at] + "\x1b[0m"
			}
			return line[:at]
		}
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return line
}

// colorAt is the color code at the start of a text, if there is one. Clean lets no other escape
// sequence pass.
func colorAt(s string) string {
	if !strings.HasPrefix(s, "\x1b[") {
		return ""
	}
	return s[:strings.IndexByte(s, 'm')+1]
}
