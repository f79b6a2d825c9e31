package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	picture   = "docs/images/upgrade.svg"
	pictureOf = "internal/cli/text/testdata/recorded-frame-color.golden"
)

// The grid of the drawn terminal, in pixels.
const (
	columnWidth = 8.4
	lineHeight  = 20
	margin      = 20
	width       = 745 // for 84 columns
)

// svgHead has the size of the picture and its colors. It names only fonts of the reader's system.
const svgHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img">
<title>The live view of refit upgrade</title>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d0d7de; white-space: pre; }
.bold { font-weight: bold; fill: #ffffff; }
.dim { fill: #8b949e; }
.red { font-weight: bold; fill: #ff7b72; }
.yellow { fill: #e3b341; }
.green { fill: #3fb950; }
rect.done { fill: #d0d7de; }
rect.done.green { fill: #3fb950; }
rect.done.bold { fill: #58a6ff; }
rect.open { fill: #30363d; }
</style>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
`

// draw returns a terminal page as SVG.
func draw(page string) []byte {
	lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
	var out bytes.Buffer
	fmt.Fprintf(&out, svgHead, width, len(lines)*lineHeight+2*margin)
	for i, line := range lines {
		column := 0
		for _, s := range spansOf(line) {
			column = s.draw(&out, column, margin+i*lineHeight)
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// draw writes the parts of a span, which starts at a column of the line below y, and returns the
// column after it.
func (s span) draw(out *bytes.Buffer, column, y int) int {
	for _, part := range s.parts() {
		count := utf8.RuneCountInString(part)
		x, length := margin+float64(column)*columnWidth, float64(count)*columnWidth
		switch kind := barOf(part); {
		case kind != "":
			fmt.Fprintf(out, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", className(kind, s.class), x, y+5, length, lineHeight-9)
		case strings.TrimSpace(part) != "":
			// textLength keeps the grid, whatever font the reader has.
			fmt.Fprintf(out, `<text%s x="%.1f" y="%d" textLength="%.1f">`, classAttribute(s.class), x, y+15, length)
			_ = xml.EscapeText(out, []byte(part)) // a bytes.Buffer accepts every write
			out.WriteString("</text>\n")
		}
		column += count
	}
	return column
}

func className(names ...string) string { return strings.TrimSpace(strings.Join(names, " ")) }

func classAttribute(class string) string {
	if class == "" {
		return ""
	}
	return ` class="` + class + `"`
}
