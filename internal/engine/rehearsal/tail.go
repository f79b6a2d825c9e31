package rehearsal

import (
	"io"
	"os"
	"strings"
	"unicode"
)

// maxTail is how much of a log is read: the reasons for a failed start are in the last lines.
const maxTail = 64 << 10

// tail returns the end of the log of a unit.
func (r *Runner) tail(unit string) string { return tail(r.file(unit + ".log")) }

// tail returns the end of a file, beginning with a whole line and without control characters. It
// returns "" on error: a missing log must not hide the failure that it belongs to.
func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(0, size-maxTail)
	text := make([]byte, size-from)
	if _, err := file.ReadAt(text, from); err != nil {
		return ""
	}
	lines := string(text)
	if _, rest, cut := strings.Cut(lines, "\n"); cut && from > 0 {
		lines = rest
	}
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == '\n' || unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, strings.ToValidUTF8(lines, "�")))
}
