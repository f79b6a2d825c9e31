package cri

import (
	"context"
	"io"
	"os"
	"strings"
)

// readBack is how much of a log's end is read at most: lines can be long, logs can be huge.
const readBack = 256 << 10

// LogTail is the end of a container's log, at most so many bytes of whole lines, without the runtime's own columns. It is empty when there is none: a log
// only ever explains another failure.
func (c *Client) LogTail(ctx context.Context, container Container, maxBytes int) string {
	if ctx.Err() != nil || container.LogPath == "" {
		return ""
	}
	text, cut := endOf(container.LogPath)
	return lastLines(decode(text, cut), maxBytes)
}

// endOf is the end of a file, and whether it begins within a line.
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
	from := max(0, info.Size()-readBack)
	content, err := io.ReadAll(io.NewSectionReader(f, from, readBack))
	if err != nil {
		return "", false
	}
	return string(content), from > 0
}

// decode reads the CRI's log format, `TIME STREAM TAG CONTENT`, where the tag P says that the line goes on in the next one.
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
	for _, stream := range []string{"stdout", "stderr"} { // What a container wrote last may lack its end.
		if partial[stream] != "" {
			lines = append(lines, strings.ToValidUTF8(partial[stream], ""))
		}
	}
	return lines
}

// lastLines are as many whole lines from the end as fit; the end of the last one, if not even that fits.
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
