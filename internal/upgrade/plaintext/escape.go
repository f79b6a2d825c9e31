package plaintext

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf16"
)

// EscapeJSON writes what is unseen in a JSON document as \u escapes, so that the document stays the same for whoever decodes it. encoding/json does so
// with control characters below U+0020 only. What is outside of strings is ASCII.
func EscapeJSON(document []byte) []byte {
	if !bytes.ContainsFunc(document, Unseen) {
		return document
	}
	var out bytes.Buffer
	for _, r := range string(document) {
		switch first, second := utf16.EncodeRune(r); {
		case !Unseen(r):
			out.WriteRune(r)
		case first != unicode.ReplacementChar: // it takes two escapes
			fmt.Fprintf(&out, `\u%04x\u%04x`, first, second)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}

// Unseen says whether a terminal may obey a character instead of showing it, or turn the direction of text around.
func Unseen(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
