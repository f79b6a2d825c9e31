package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// marker begins what replaces a secret.
const marker = "[redacted:"

func replacement(rule string) string { return marker + rule + "]" }

// Counts is the number of redactions per rule.
type Counts map[string]int64

// Add adds other counts.
func (c Counts) Add(other Counts) {
	for rule, n := range other {
		c[rule] += n
	}
}

// Redactor removes secrets. It does not change, so that several goroutines can use it.
type Redactor struct{ rules []rule }

// New returns a Redactor with all rules, and with configured patterns. A pattern redacts what its
// first group matches, or the whole match if it has none.
func New(patterns ...*regexp.Regexp) *Redactor {
	return &Redactor{rules: append(slices.Clone(rules), configured(patterns)...)}
}

// has is true if a rule is active.
func (r *Redactor) has(name string) bool {
	return slices.ContainsFunc(r.rules, func(a rule) bool { return a.name == name })
}

// Text returns a text without its secrets.
func (r *Redactor) Text(text string) (string, Counts) {
	var out strings.Builder
	w := r.NewWriter(&out)
	_, _ = w.Write([]byte(text)) // a strings.Builder does not fail
	_ = w.Close()
	return out.String(), w.Counts()
}

// span is a part of a line that a rule redacts.
type span struct {
	from, to int
	rule     string
}

// spans returns what the rules find in a line, merged and in order.
func (r *Redactor) spans(line string) []span {
	lower := strings.ToLower(line)
	if len(lower) != len(line) {
		lower = asciiLower(line) // other characters have another length in lower case
	}
	var found []span
	for i := range r.rules {
		found = append(found, r.rules[i].spans(line, lower)...)
	}
	return merged(found)
}

func asciiLower(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// merged joins spans that overlap. The one that begins first names the result, or else the longest.
func merged(found []span) []span {
	found = slices.DeleteFunc(found, func(s span) bool { return s.to <= s.from })
	slices.SortStableFunc(found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out []span
	for _, s := range found {
		if last := len(out) - 1; last >= 0 && s.from < out[last].to {
			out[last].to = max(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// replace replaces spans of a line and counts them. A marker is not counted again.
func replace(line string, spans []span, counts Counts) string {
	if len(spans) == 0 {
		return line
	}
	var out strings.Builder
	at := 0
	for _, s := range spans {
		out.WriteString(line[at:s.from])
		if was := line[s.from:s.to]; redacted(was) {
			out.WriteString(was)
		} else {
			out.WriteString(replacement(s.rule))
			counts[s.rule]++
		}
		at = s.to
	}
	out.WriteString(line[at:])
	return out.String()
}

// redacted is true for exactly one marker: a text may not begin with one to hide the rest.
func redacted(text string) bool {
	rest, ok := strings.CutPrefix(text, marker)
	return ok && strings.IndexByte(rest, ']') == len(rest)-1
}
