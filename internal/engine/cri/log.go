package cri

import (
	"context"
	"io"
	"os"
	"strings"
)

// maxRead bounds what is read of a log: lines can be long, and logs huge.
const maxRead = 256 << 10

// LogTail returns the end of a container's log: whole lines of at most maxBytes, without the
// columns of the runtime. It returns "" if there is no log, which only ever explains another
// failure.
func (c *Client) LogTail(ctx context.Context, container Container, maxBytes int) string {
	if ctx.Err() != nil || container.LogPath == "" {
		return ""
	}
	text, cut := endOf(container.LogPath)
	return lastLines(decode(text, cut), maxBytes)
}

// endOf returns the end of a file, and whether it starts within a line.
func endOf(path string) (text string, cut bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	from := max(0, info.Size()-maxRead)
	content, err := io.ReadAll(io.NewSectionReader(f, from, maxRead))
	if err != nil {
		return "", false
	}
	return string(content), from > 0
}

// decode parses the log format of the CRI, `TIME STREAM TAG CONTENT`. The tag P marks a line that
// continues in the next one.
func decode(text string, cut bool) []string {
	var lines []string
	partial := map[string]string{} // by stream: the two are interleaved
	for line := range strings.Lines(text) {
		if cut {
			cut = false
			continue
		}
		columns := strings.SplitN(strings.TrimRight(line, "\n"), " ", 4)
		if len(columns) < 4 {
			continue
		}
		stream, tag, content := columns[1], columns[2], columns[3]
		if tag == "P" {
			partial[stream] += content
			continue
		}
		lines = append(lines, strings.ToValidUTF8(partial[stream]+content, ""))
		delete(partial, stream)
	}
	for _, stream := range []string{"stdout", "stderr"} { // the last line may be incomplete
		if partial[stream] != "" {
			lines = append(lines, strings.ToValidUTF8(partial[stream], ""))
		}
	}
	return lines
}

// lastLines returns the last whole lines that fit, or the end of the last one if it does not fit.
func lastLines(lines []string, maxBytes int) string {
	first, size := len(lines), 0
	for first > 0 && size+len(lines[first-1])+1 <= maxBytes {
		first--
		size += len(lines[first]) + 1
	}
	if first == len(lines) && first > 0 {
		last := lines[first-1]
		return strings.ToValidUTF8(last[max(0, len(last)-maxBytes):], "")
	}
	return strings.Join(lines[first:], "\n")
}
