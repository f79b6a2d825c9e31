package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// content is everything that the page lists.
type content struct {
	checks   []check
	problems []problem
	waits    []wait
	refusals []refusal
	failures []failure
}

// The minimum number of entries of each list. Fewer mean that the code has changed its shape and
// that this tool no longer finds them.
const (
	minChecks   = 90
	minProblems = 25
	minWaits    = 10
	minRefusals = 8
	minFailures = 100
)

func (c content) complete() error {
	if len(c.checks) < minChecks || len(c.problems) < minProblems || len(c.waits) < minWaits || len(c.refusals) < minRefusals || len(c.failures) < minFailures {
		return fmt.Errorf("found only %d checks, %d problems of components, %d reasons for waiting, %d refusals and %d failures: "+
			"adapt tools/reasons to the code",
			len(c.checks), len(c.problems), len(c.waits), len(c.refusals), len(c.failures))
	}
	return nil
}

//go:embed page.md
var template string

func (c content) page() string {
	return strings.NewReplacer(
		"{{checks}}\n", c.checkRows(), "{{problems}}\n", c.problemRows(), "{{waits}}\n", c.waitRows(),
		"{{refusals}}\n", c.refusalRows(), "{{failures}}\n", c.failureRows(),
	).Replace(template)
}

func (c content) checkRows() string {
	var out strings.Builder
	for _, check := range c.checks {
		var notes []string
		if check.agent {
			notes = append(notes, "needs the agent")
		}
		if check.binding {
			notes = append(notes, "no waiver")
		}
		row(&out, code(check.id), check.severity, escape(check.meaning), escape(strings.Join(check.remedies, "<br>")), strings.Join(notes, ", "))
	}
	return out.String()
}

func (c content) problemRows() string {
	var out strings.Builder
	for _, p := range c.problems {
		list := p.messages
		if len(list) == 0 {
			list = []string{causeOnly}
		}
		row(&out, code(p.reason), code(p.check), escape(strings.Join(list, "<br>")), escape(p.remedy))
	}
	return out.String()
}

func (c content) waitRows() string {
	var out strings.Builder
	for _, w := range c.waits {
		row(&out, code(w.reason), escape(strings.TrimSuffix(w.meaning, ".")), escape(strings.Join(w.remedies, "<br>")))
	}
	return out.String()
}

func (c content) refusalRows() string {
	messages := map[string][]string{}
	for _, r := range c.refusals {
		if isReason(r.reason) {
			messages[r.reason] = append(messages[r.reason], written(r.message)...)
		}
	}
	var out strings.Builder
	for _, reason := range sortedKeys(messages) {
		row(&out, code(reason), escape(strings.Join(unique(messages[reason]), "<br>")), escape(refusalRemedies[reason]))
	}
	return out.String()
}

// failureRows has one row for each reason, class and remedy; messages share it.
func (c content) failureRows() string {
	messages := map[failure][]string{}
	for _, f := range c.failures {
		key := failure{class: f.class, reason: f.reason, remedy: f.remedy}
		messages[key] = append(messages[key], written(f.message)...)
	}
	keys := slices.SortedFunc(maps.Keys(messages), func(a, b failure) int {
		return cmp.Or(strings.Compare(a.reason, b.reason), strings.Compare(a.class, b.class), strings.Compare(a.remedy, b.remedy))
	})
	var out strings.Builder
	for _, f := range keys {
		list := unique(messages[f])
		if len(list) == 0 {
			list = []string{causeOnly}
		}
		row(&out, code(f.reason), f.class, escape(strings.Join(list, "<br>")), escape(f.remedy))
	}
	return out.String()
}

// causeOnly stands for messages that only the running code has.
const causeOnly = "the message has the cause"

// dynamic matches the start of a message that only the caller has.
var dynamic = regexp.MustCompile(`^[A-Z]+(?:: |$)`)

// written returns the part of a message that is in the code, as a list of one, or nothing.
func written(message string) []string {
	message = strings.ReplaceAll(dynamic.ReplaceAllString(message, ""), ": FORMAT", ": CAUSE")
	if !strings.Contains(message, " ") {
		return nil
	}
	return []string{message}
}

func row(out *strings.Builder, cells ...string) {
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func code(text string) string { return "`" + text + "`" }

// escape keeps a text from ending its cell or from becoming HTML, except for line breaks.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<br>", "<br>", "<", "&lt;").Replace(text)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
