package redact

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	pemBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	pemEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
)

// pemKeys finds PEM blocks in a line, as in a JSON string. One without an end reaches to the end of
// the line; the state of the stream handles the lines after it.
func pemKeys(line string) (out []span) {
	for at := 0; ; {
		begin := pemBegin.FindStringIndex(line[at:])
		if begin == nil {
			break
		}
		from := at + begin[1]
		end := pemEnd.FindStringIndex(line[from:])
		if end == nil {
			if from == len(line) {
				from = at + begin[0] // the line counts, too
			}
			return append(out, span{from: from, to: len(line)})
		}
		out = append(out, span{from: from, to: from + end[0]})
		at = from + end[1]
	}
	if end := pemEnd.FindStringIndex(line); end != nil && len(out) == 0 {
		out = append(out, span{from: bodyBefore(line[:end[0]]), to: end[0]})
	}
	return out
}

// bodyBefore returns where the base64 before an END begins.
func bodyBefore(line string) int {
	return strings.LastIndexFunc(line, func(r rune) bool {
		return r > unicode.MaxASCII || (!unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+/=\\", r))
	}) + 1
}

// derKeys are the base64 of the first bytes of PKCS #1, PKCS #8 and SEC 1 keys. The length is in
// the characters that a dot matches.
var (
	derKey  = regexp.MustCompile(`\b(?:MII...IBAAK|MII...IBADAN|MHcCAQEE|MIGkAgEBBD|MIGHAgEAMB|MIG2AgEAMB|MC4CAQAwBQYDK2Vw)[A-Za-z0-9+/]*={0,2}`)
	hexOnly = regexp.MustCompile(`^[0-9a-f]+$`)
)

// pemWidths are the lengths of the lines of PEM blocks and of folded base64.
var pemWidths = []int{64, 76}

func keyBodies(line string) (out []span) {
	if strings.Contains(line, "MII") || strings.Contains(line, "MHcC") || strings.Contains(line, "MIG") || strings.Contains(line, "MC4C") {
		out = all(derKey, 0, line)
	}
	end := len(strings.TrimRight(line, "\r"))
	from := end
	for from > 0 && isBase64(line[from-1]) {
		from--
	}
	// A digest has these lengths, too.
	if slices.Contains(pemWidths, end-from) && !hexOnly.MatchString(line[from:end]) && (from == 0 || strings.IndexByte(" \t:\"", line[from-1]) >= 0) {
		out = append(out, span{from: from, to: end})
	}
	return out
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

// minEncoded is the length of the shortest base64 that is decoded.
const minEncoded = 24

// encoded returns what may be base64 of a text, in both alphabets. A regular expression would be a
// hundred times slower, and this is applied to every line.
func encoded(line string) (out []span) {
	for from := 0; from < len(line); {
		to, other := from, false
		for to < len(line) && (isBase64(line[to]) || line[to] == '-' || line[to] == '_') {
			other = other || line[to] == '-' || line[to] == '_'
			to++
		}
		if to-from >= minEncoded {
			padded := to
			for padded < len(line) && padded-to < 2 && line[padded] == '=' {
				padded++
			}
			out = append(out, span{from: from, to: padded})
			if other {
				out = append(out, standard(line, from, to)...)
			}
		}
		from = to + 1
	}
	return out
}

// standard returns the parts of a run that are base64 of the standard alphabet.
func standard(line string, from, to int) (out []span) {
	for at := from; at < to; {
		end := at
		for end < to && isBase64(line[end]) {
			end++
		}
		if end-at >= minEncoded {
			out = append(out, span{from: at, to: end})
		}
		at = end + 1
	}
	return out
}

// maxWrapped is how often a text may be encoded.
const maxWrapped = 3

// wrapped finds base64 of texts in which another rule finds something.
func wrapped(inner *Redactor) func(string) []span {
	var secret func(text string, depth int) bool
	secret = func(text string, depth int) bool {
		for line := range strings.Lines(text) {
			if len(inner.spans(strings.TrimRight(line, "\n"))) > 0 {
				return true
			}
		}
		if depth == maxWrapped {
			return false
		}
		for _, s := range encoded(text) {
			if decoded, ok := decode(text[s.from:s.to]); ok && printable(decoded) && secret(string(decoded), depth+1) {
				return true
			}
		}
		return false
	}
	return func(line string) (out []span) {
		for _, s := range encoded(line) {
			if decoded, ok := decode(line[s.from:s.to]); ok && printable(decoded) && secret(string(decoded), 1) {
				out = append(out, s)
			}
		}
		return out
	}
}

// printable is true for text, and false for digests, keys and archives. The last character may be
// cut.
func printable(text []byte) bool {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 && len(text)-i >= utf8.UTFMax {
			return false
		}
		if r != utf8.RuneError && !unicode.IsPrint(r) && !strings.ContainsRune("\n\r\t", r) {
			return false
		}
		i += size
	}
	return true
}
