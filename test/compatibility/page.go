package compatibility

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed page.md
var head string

// Page returns docs/compatibility.md. target returns the make target that runs a test.
func Page(target func(test string) string) string {
	var page strings.Builder
	page.WriteString(head)
	for _, s := range Table {
		fmt.Fprintf(&page, "\n## %s\n\n| | status | evidence |\n|---|---|---|\n", s.Title)
		for _, r := range s.Rows {
			fmt.Fprintf(&page, "| %s | %s | %s |\n", r.Kind, r.status(), r.evidence(target))
		}
	}
	return page.String()
}

func (r *Row) status() string {
	switch {
	case r.Note == "":
		return string(r.Status)
	case strings.HasPrefix(r.Note, "with "), strings.HasPrefix(r.Note, "can "):
		return string(r.Status) + ", " + r.Note
	}
	return string(r.Status) + "; " + r.Note
}

func (r *Row) evidence(target func(test string) string) string {
	var all []string
	for _, test := range r.Tests {
		all = append(all, fmt.Sprintf("%s in `make %s`", code(test), target(test)))
	}
	for _, check := range r.Checks {
		all = append(all, "check "+code(check))
	}
	for _, reason := range r.Reasons {
		all = append(all, "reason "+code(reason))
	}
	if r.Evidence != "" {
		all = append(all, r.Evidence)
	}
	return strings.Join(all, "; ")
}

func code(name string) string { return "`" + name + "`" }
