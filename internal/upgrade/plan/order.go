package plan

import "strings"

// byName orders nodes as people count them: worker-2 before worker-10.
func byName(a, b string) int {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			x, y := digits(a), digits(b)
			i, j := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(i) != len(j) {
				return len(i) - len(j)
			}
			if c := strings.Compare(i, j); c != 0 {
				return c
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) string {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return s[:i]
		}
	}
	return s
}
