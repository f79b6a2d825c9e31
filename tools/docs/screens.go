package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	fence = "```"
	// screenFence opens a screen, which is no code.
	screenFence = fence + "text"
)

// screen matches the comment above a screen. Its groups are the golden file and the number of
// lines.
var screen = regexp.MustCompile(`^<!-- screen: (\S+)(?: head ([1-9][0-9]*))? -->$`)

// fill returns a page in which every screen has the content of its golden file.
func fill(page string, read func(string) (string, error)) (string, error) {
	var out []string
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		match := screen.FindStringSubmatch(lines[i])
		if match == nil {
			if strings.HasPrefix(lines[i], "<!-- screen") {
				return "", fmt.Errorf("line %d: %q does not name a golden file", i+1, lines[i])
			}
			continue
		}
		end, err := endOfBlock(lines, i+1)
		if err != nil {
			return "", err
		}
		golden, err := read(match[1])
		if err != nil {
			return "", err
		}
		out = append(out, screenFence, head(golden, match[2]), fence)
		i = end
	}
	return strings.Join(out, "\n"), nil
}

// endOfBlock returns the line that closes the fenced block that starts at a line.
func endOfBlock(lines []string, start int) (int, error) {
	if start >= len(lines) || lines[start] != screenFence {
		return 0, fmt.Errorf("line %d: a screen needs a fenced block, %s, in the next line", start, screenFence)
	}
	for i := start + 1; i < len(lines); i++ {
		if lines[i] == fence {
			return i, nil
		}
	}
	return 0, fmt.Errorf("line %d: the fenced block has no end", start+1)
}

// head returns the first lines of a text, or all of them if count is empty.
func head(text, count string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	n, err := strconv.Atoi(count)
	if err != nil || n >= len(lines) {
		return strings.Join(lines, "\n")
	}
	return strings.TrimRight(strings.Join(lines[:n], "\n"), "\n") + "\n…"
}
