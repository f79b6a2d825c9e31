package redact

import (
	"regexp"
	"strings"
)

// lastApplied is the annotation of kubectl apply.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

var (
	kindSecret = regexp.MustCompile(`\bkind\\*["']?\s*:\s*\\*["']?Secret(?:List)?\b`)
	dataObject = regexp.MustCompile(`\\*["']\bdata\\*["']\s*:\s*\{`)
	stringData = regexp.MustCompile(`\\*["']?\bstringData\\*["']?\s*:\s*\{`)
	goData     = regexp.MustCompile(`\bData:map\[string\]\[\](?:byte|uint8)\{[^}]*\}?|` +
		`\bData:map\[[^\[\]]*\[[^\]]*\][^\]]*\]|\bStringData:map\[string\]string\{[^}]*\}?`)
	appliedName = regexp.MustCompile(regexp.QuoteMeta(lastApplied) + `\\*["']?\s*[:=]\s*`)
)

// secretData finds the data of Secrets in a line: as JSON at any level of escaping, and as Go
// prints a struct.
func secretData(line string) []span {
	found := objects(stringData, line)
	if kindSecret.MatchString(line) {
		found = append(found, objects(dataObject, line)...)
	}
	return append(found, all(goData, 0, line)...)
}

// objects returns what is between the braces after the matches.
func objects(expression *regexp.Regexp, line string) (out []span) {
	for _, at := range expression.FindAllStringIndex(line, -1) {
		s := span{from: at[1], to: at[1] + balanced(line[at[1]:])}
		if text := line[s.from:s.to]; strings.TrimSpace(text) != "" {
			out = append(out, s)
		}
	}
	return out
}

// balanced returns the length of a text up to the brace that closes it.
func balanced(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return len(text)
}

func lastAppliedValues(line string) (out []span) {
	for _, at := range appliedName.FindAllStringIndex(line, -1) {
		if s := valueAt(line, at[1], true); !harmlessValue(line[s.from:s.to]) || strings.HasPrefix(line[s.from:s.to], "{") {
			out = append(out, s)
		}
	}
	return out
}
