package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// list is the content of phrases.yaml.
type list struct {
	// Limits has the highest accepted count of each area.
	Limits  map[string]int `json:"limits"`
	Phrases []phrase       `json:"phrases"`
	Allowed []allowance    `json:"allowed"`
}

// phrase is a pattern that matches whole words, in any case.
type phrase struct {
	// Not is a regular expression. A space in it matches any white space and comment markers.
	Not string `json:"not"`
	// Use is the replacement.
	Use string `json:"use"`
	// Example is a text that Not matches.
	Example string `json:"example"`

	pattern *regexp.Regexp
}

// allowance permits the phrases within a text of one file.
type allowance struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	Reason string `json:"reason"`

	pattern *regexp.Regexp
}

func readList(file string) (*list, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the list: %w", err)
	}
	return parseList(text)
}

func parseList(text []byte) (*list, error) {
	l := &list{}
	if err := yaml.UnmarshalStrict(text, l); err != nil {
		return nil, fmt.Errorf("cannot parse the list: %w", err)
	}
	for i := range l.Phrases {
		p := &l.Phrases[i]
		if p.Not == "" || p.Use == "" || p.Example == "" {
			return nil, fmt.Errorf("phrase %d needs not, use and example", i+1)
		}
		var err error
		if p.pattern, err = compile(p.Not); err != nil {
			return nil, fmt.Errorf("phrase %q: %w", p.Not, err)
		}
	}
	for i := range l.Allowed {
		a := &l.Allowed[i]
		if a.Path == "" || a.Text == "" || a.Reason == "" {
			return nil, fmt.Errorf("allowed use %d needs path, text and reason", i+1)
		}
		a.pattern = regexp.MustCompile(spread(regexp.QuoteMeta(a.Text)))
	}
	return l, nil
}

func compile(not string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?i)\b(?:` + spread(not) + `)\b`)
}

// spread lets a phrase continue on the next line of a comment, a quote or a block of YAML.
func spread(pattern string) string {
	return strings.ReplaceAll(pattern, " ", `(?:[\s>]|//|#)+`)
}
