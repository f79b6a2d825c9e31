package drift

import (
	"fmt"
	"slices"
	"strings"
)

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// line is a line of a diff: it is in both texts, or only in one.
type line struct {
	mark byte // ' ', '-' or '+'
	text string
}

// Diff returns the difference between two versions of a text as a unified diff, or an empty string.
func Diff(name, before, after string) string {
	if before == after {
		return ""
	}
	lines := align(split(before), split(after))
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for from := next(lines, 0); from < len(lines); {
		to := from + 1 // after the last change of the hunk
		for more := next(lines, to); more < len(lines) && more-to <= 2*contextLines; more = next(lines, to) {
			to = more + 1
		}
		writeHunk(&out, lines, max(from-contextLines, 0), min(to+contextLines, len(lines)))
		from = next(lines, to)
	}
	return out.String()
}

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// next returns the index of the next change, or the number of lines.
func next(lines []line, from int) int {
	for from < len(lines) && lines[from].mark == ' ' {
		from++
	}
	return from
}

func writeHunk(out *strings.Builder, lines []line, from, to int) {
	count := func(lines []line, without byte) (n int) {
		for _, l := range lines {
			if l.mark != without {
				n++
			}
		}
		return n
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", count(lines[:from], '+')+1, count(lines[from:to], '+'), count(lines[:from], '-')+1, count(lines[from:to], '-'))
	for _, l := range lines[from:to] {
		fmt.Fprintf(out, "%c%s\n", l.mark, l.text)
	}
}

// align returns the lines of both texts with the longest common subsequence as unchanged lines. The
// texts are short.
func align(before, after []string) []line {
	common := make([][]int, len(before)+1) // lengths for the rests of both texts
	for i := range common {
		common[i] = make([]int, len(after)+1)
	}
	for i, old := range slices.Backward(before) {
		for j, text := range slices.Backward(after) {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); old == text {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out []line
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			out = append(out, line{' ', before[i]})
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && common[i+1][j] >= common[i][j+1]:
			out = append(out, line{'-', before[i]})
			i++
		default:
			out = append(out, line{'+', after[j]})
			j++
		}
	}
	return out
}
