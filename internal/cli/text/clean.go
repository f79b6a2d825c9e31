package text

import (
	"strings"
	"unicode"
)

// Clean makes external text safe to print: white space becomes a space, and invisible characters a
// visible mark. An escape sequence in the name of a node thus cannot move the cursor, hide a
// finding, or reverse the direction of a line.
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
