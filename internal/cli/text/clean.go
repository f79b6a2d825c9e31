package text

import (
	"strings"
	"unicode"
)

// Clean makes a text that others wrote safe to show: white space becomes a space each, and what cannot be seen becomes a mark that can.
// So an escape sequence in a node's name cannot move the cursor, hide a finding, or turn the direction of a line around.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
