package plaintext

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// EscapeJSON escapes non-printable characters in a JSON document, which decodes to the same value.
// encoding/json escapes only control characters below U+0020. Outside of strings, JSON is ASCII.
func EscapeJSON(document []byte) []byte {
	if !bytes.ContainsFunc(document, Unprintable) {
		return document
	}
	var out bytes.Buffer
	for _, r := range string(document) {
		switch first, second := utf16.EncodeRune(r); {
		case !Unprintable(r):
			out.WriteRune(r)
		case first != unicode.ReplacementChar: // a surrogate pair
			fmt.Fprintf(&out, `\u%04x\u%04x`, first, second)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// Unprintable reports whether a terminal may interpret a character, or change the direction of
// text, instead of showing it.
func Unprintable(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
