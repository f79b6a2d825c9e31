package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// order sorts findings by severity, then by check, then by object.
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

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
