package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const ruleHeader = `# Generated from tools/language/phrases.yaml by ` + "`make generate`" + `. Do not edit.
extends: substitution
message: "Use '%s' instead of '%s'."
level: error
ignorecase: true
`

func writeRule(file string, l *list) error {
	if err := os.WriteFile(file, []byte(rule(l)), 0o644); err != nil {
		return fmt.Errorf("cannot write the Vale rule: %w", err)
	}
	return nil
}

// rule returns the Vale rule that reports the phrases of a list. An exception of a Vale rule cannot
// name a file, so .vale.ini lists the files with allowed uses.
func rule(l *list) string {
	var b strings.Builder
	b.WriteString(ruleHeader)
	b.WriteString("swap:\n")
	for _, p := range l.Phrases {
		fmt.Fprintf(&b, "  %s: %s\n", quote(strings.ReplaceAll(p.Not, " ", `\s+`)), quote(p.Use))
	}
	return b.String()
}

// quote returns a YAML string. JSON strings are YAML strings.
func quote(text string) string { return strconv.Quote(text) }
