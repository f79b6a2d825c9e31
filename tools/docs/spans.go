package main

import (
	"regexp"
	"strings"
)

// span is text of one style.
type span struct {
	class string // of the SVG
	text  string
}

// escape matches a style as golden files spell it: ESC is a word in them.
var escape = regexp.MustCompile(`ESC\[([0-9;]*)m`)

// classes has the class of each style that Refit prints.
var classes = map[string]string{"": "", "0": "", "1": "bold", "2": "dim", "1;31": "red", "33": "yellow", "32": "green"}

// spansOf splits a line where its style changes.
func spansOf(line string) []span {
	var spans []span
	class, start := "", 0
	for _, at := range escape.FindAllStringSubmatchIndex(line, -1) {
		if at[0] > start {
			spans = append(spans, span{class: class, text: line[start:at[0]]})
		}
		class, start = classes[line[at[2]:at[3]]], at[1]
	}
	if start < len(line) {
		spans = append(spans, span{class: class, text: line[start:]})
	}
	return spans
}

const (
	full  = "█"
	empty = "░"
)

// bars matches the parts of a progress bar. Fonts draw their characters with gaps, so the picture
// has rectangles instead; spaces separate parts, because SVG may collapse them.
var bars = regexp.MustCompile(full + `+|` + empty + `+|  +|[^ ` + full + empty + `](?: ?[^ ` + full + empty + `])*| `)

func (s span) parts() []string { return bars.FindAllString(s.text, -1) }

// barOf returns the class of a part of a progress bar, or "" for other text.
func barOf(part string) string {
	switch {
	case strings.HasPrefix(part, full):
		return "done"
	case strings.HasPrefix(part, empty):
		return "open"
	}
	return ""
}
