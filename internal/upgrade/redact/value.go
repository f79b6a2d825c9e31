package redact

import (
	"regexp"
	"strings"
)

// valueAt returns the value that begins at an offset of a line. A quoted value ends with the quote
// of its own level of escaping: in `{\"password\":\"a\\\"b\"}` that is a\\\"b. An unquoted one ends
// with the word, or with the line if it is the value of a line of YAML.
func valueAt(line string, at int, yaml bool) span {
	quote := at
	for quote < len(line) && line[quote] == '\\' {
		quote++
	}
	if quote < len(line) && (line[quote] == '"' || line[quote] == '\'') {
		from := quote + 1
		return span{from: from, to: from + quoted(line[from:], line[quote], quote-at)}
	}
	if strings.HasPrefix(line[at:], "[") && redactedPrefix(line[at:]) == 0 {
		from := at + 1
		if end := strings.IndexByte(line[from:], ']'); end >= 0 {
			return span{from: from, to: from + end}
		}
		return span{from: from, to: len(line)}
	}
	if yaml {
		return span{from: at, to: len(strings.TrimRight(line, " \t\r"))}
	}
	return span{from: at, to: at + word(line[at:])}
}

// quoted returns the length of a value up to its quote, which has this many backslashes.
func quoted(text string, quote byte, backslashes int) int {
	for i := 0; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		before := 0
		for i-before > 0 && text[i-before-1] == '\\' {
			before++
		}
		// Backslashes in pairs are a part of the value.
		if before == backslashes || (backslashes == 0 && before%2 == 0) {
			return i - backslashes
		}
	}
	return len(text)
}

// nextField follows a comma that is not a part of a value.
var nextField = regexp.MustCompile(`^,(?:\s|$|[\w.-]+\\*["']?[:=]|\\*["'])`)

// word returns the length of an unquoted value.
func word(text string) int {
	for i := redactedPrefix(text); i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '"', '\'', '&', ';', '}', ')', '`':
			return i
		case '\\':
			if i+1 < len(text) && strings.IndexByte(`\"'nrtu`, text[i+1]) >= 0 {
				return i
			}
		case ']':
			return i
		case ',':
			if nextField.MatchString(text[i:]) {
				return i
			}
		}
	}
	return len(text)
}

// redactedPrefix returns the length of a marker at the begin of a text.
func redactedPrefix(text string) int {
	if !strings.HasPrefix(text, marker) {
		return 0
	}
	return strings.IndexByte(text, ']') + 1
}
