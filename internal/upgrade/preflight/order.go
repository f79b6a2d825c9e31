package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// How many similar findings are told one by one: fewer of those that ask for nothing.
const (
	unfolded     = 20
	unfoldedInfo = 5
)

// order sorts findings: what blocks first, then by the order of the list, then by object.
func order(findings []Finding) {
	place := make(map[string]int, len(checks))
	for i, check := range checks {
		place[check.ID] = i
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(weight(&a), weight(&b)),
			cmp.Compare(place[a.Check], place[b.Check]),
			strings.Compare(a.Object, b.Object),
			strings.Compare(a.Message, b.Message),
		)
	})
}

func weight(f *Finding) int {
	n := 8
	switch f.Severity {
	case Block:
		n = 0
	case Warn:
		n = 4
	case Info:
	}
	if f.Deferred {
		n++
	}
	if f.Waived != nil {
		n += 2
	}
	return n
}

// fold replaces all but the first of many similar findings by one that counts them. It comes after waiving, so that a waiver can name any of them.
func fold(findings []Finding) []Finding {
	var out []Finding
	for start := 0; start < len(findings); {
		end := start + 1
		for end < len(findings) && similar(&findings[start], &findings[end]) {
			end++
		}
		alike := findings[start:end]
		start = end
		most := unfolded
		if alike[0].Severity == Info {
			most = unfoldedInfo
		}
		if len(alike) <= most {
			out = append(out, alike...)
			continue
		}
		out = append(out, alike[:most]...)
		last := &out[len(out)-1]
		last.More = len(alike) - most
		last.Message = fmt.Sprintf("%s (and %s more like it)", last.Message, thousands(last.More))
	}
	return out
}

func similar(a, b *Finding) bool { return a.Check == b.Check && weight(a) == weight(b) }

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
