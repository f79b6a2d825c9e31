package policy

import (
	"cmp"
	"strings"
)

// CompareNames compares the names of objects. Digits count as numbers, so that v1-36-3-10 follows
// v1-36-3-9.
func CompareNames(a, b string) int {
	original := cmp.Compare(a, b)
	for a != "" && b != "" {
		numberA, restA := leadingNumber(a)
		numberB, restB := leadingNumber(b)
		if numberA == "" || numberB == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		trimmedA, trimmedB := strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
		if c := cmp.Or(cmp.Compare(len(trimmedA), len(trimmedB)), cmp.Compare(trimmedA, trimmedB)); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), original)
}

// leadingNumber splits the digits at the start of a text from the rest.
func leadingNumber(text string) (number, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}
