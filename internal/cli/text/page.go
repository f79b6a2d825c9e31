package text

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Page is the layout of a text.
type Page struct {
	Width int  // columns; 0 means DefaultWidth
	Color bool // whether the reader is a terminal that shows colors
	Wide  bool // whether lists are written out instead of folded
	Now   time.Time
}

// The width of a page if that of the terminal is unknown, and the minimum.
const (
	DefaultWidth = 100
	minWidth     = 40
)

// style is the style of a run of text. Its value is the code of the terminal, empty for plain
// text.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "1;31"
	yellow style = "33"
	green  style = "32"
)

// run is text of one style.
type run struct {
	text  string
	style style
}

func as(s style, text string) run { return run{text: text, style: s} }

// writer writes a page. All text goes through Clean, without exception.
type writer struct {
	out   strings.Builder
	width int
	color bool
	now   time.Time
}

func newWriter(p Page) *writer {
	if p.Width == 0 {
		p.Width = DefaultWidth
	}
	return &writer{width: max(p.Width, minWidth), color: p.Color, now: p.Now}
}

func (w *writer) String() string { return w.out.String() }

func (w *writer) blank() { w.out.WriteByte('\n') }

// section starts a section of the page.
func (w *writer) section(title string, more ...run) {
	w.blank()
	w.para(0, append([]run{as(bold, title)}, more...)...)
}

// para writes text at an indent, and wraps it there.
func (w *writer) para(indent int, body ...run) {
	w.hang(strings.Repeat(" ", indent), plain, indent, body...)
}

// hang writes a first column and, from column hang on, text that wraps within its own column. A
// first column that is too long shifts the text of the first line instead of being cut.
func (w *writer) hang(first string, s style, hang int, body ...run) {
	w.hangTwo(run{text: first, style: s}, run{}, hang, body...)
}

// hangTwo is hang with two first columns.
func (w *writer) hangTwo(first, second run, hang int, body ...run) {
	first.text, second.text = Clean(first.text), strings.TrimRight(Clean(second.text), " ")
	if second.text == "" {
		first.text = strings.TrimRight(first.text, " ")
	}
	w.paint(first)
	w.paint(second)
	at := utf8.RuneCountInString(first.text + second.text)
	start := max(hang, at)
	if at > 0 && at >= hang {
		start = at + 2
	}
	for i, line := range wrap(body, w.width-start, w.width-hang) {
		if i > 0 {
			at, start = 0, hang
		}
		if len(line) > 0 {
			w.out.WriteString(strings.Repeat(" ", start-at))
		}
		for _, piece := range line {
			w.paint(piece)
		}
		w.blank()
	}
}

func (w *writer) paint(r run) {
	if !w.color || r.style == plain || r.text == "" {
		w.out.WriteString(r.text)
		return
	}
	w.out.WriteString("\x1b[" + string(r.style) + "m" + r.text + "\x1b[0m")
}

// wrap breaks runs into lines between words. A word longer than a line gets its own line and is
// not broken: it may be something to copy. There is always at least one line.
func wrap(body []run, first, rest int) [][]run {
	lines, used, width := [][]run{nil}, 0, first
	for _, r := range body {
		for word := range strings.FieldsSeq(Clean(r.text)) {
			n := utf8.RuneCountInString(word)
			if used > 0 && used+1+n > width {
				lines, used, width = append(lines, nil), 0, rest
			}
			line := &lines[len(lines)-1]
			if used > 0 {
				word, n = " "+word, n+1
			}
			if last := len(*line) - 1; last >= 0 && (*line)[last].style == r.style {
				(*line)[last].text += word
			} else {
				*line = append(*line, run{text: word, style: r.style})
			}
			used += n
		}
	}
	return lines
}
