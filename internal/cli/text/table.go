package text

import (
	"strings"
	"unicode/utf8"
)

// mostName is the maximum width of the first column; a longer name shifts the rest of its line.
const mostName = 34

// table is rows of three columns, with lines of plain text between them. Columns are as wide as
// their content.
type table struct{ rows []row }

// row is a line of a table: a name, a duration and a remark. Without a name it is a line of
// text.
type row struct {
	indent int
	name   string
	style  style
	time   string
	body   []run
}

func (t *table) row(r row) { t.rows = append(t.rows, r) }

func (t *table) line(indent int, body ...run) {
	t.rows = append(t.rows, row{indent: indent, body: body})
}

func (t *table) blank() { t.rows = append(t.rows, row{}) }

func (t *table) write(w *writer) {
	first, second := 0, 0
	for _, r := range t.rows {
		if r.name != "" {
			first = max(first, min(mostName, r.indent+utf8.RuneCountInString(Clean(r.name))))
			second = max(second, utf8.RuneCountInString(r.time))
		}
	}
	for _, r := range t.rows {
		indent := strings.Repeat(" ", r.indent)
		if r.name == "" {
			w.para(r.indent, r.body...)
			continue
		}
		lead := indent + Clean(r.name)
		gap := strings.Repeat(" ", max(0, first-utf8.RuneCountInString(lead)))
		w.hangTwo(run{lead, r.style}, run{gap + "  " + r.time, plain}, first+2+second+3, r.body...)
	}
}
