package main

import (
	"go/ast"
	"slices"
	"strings"
)

// problem is what refit-components reports against a change of a component.
type problem struct {
	reason, check, remedy string
	messages              []string
}

// problems returns the problems of offers, sorted by their reasons: those that have a remedy in
// package offer.
func (s *source) problems() []problem {
	p, remedies := s.byName["offer"], s.offered()
	if p == nil {
		return nil
	}
	messages := map[string][]string{}
	p.functions(func(f *ast.FuncDecl) {
		here := scope{pkg: p, function: f}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			reason, format := -1, -1
			switch lastName(call.Fun) {
			case "problem":
				reason, format = 0, 2
			case "NewProblem":
				reason, format = 0, 1
			}
			if reason < 0 || len(call.Args) <= format {
				return true
			}
			id := here.text(call.Args[reason])
			text := here.format(call.Args[format], call.Args[format+1:])
			if isReason(id) && !strings.HasPrefix(text, ":") { // its start is the publisher's
				messages[id] = append(messages[id], written(text)...)
			}
			return true
		})
	})
	var out []problem
	for _, reason := range sortedKeys(remedies) {
		out = append(out, problem{reason: reason, check: s.checkOf(reason), remedy: remedies[reason][0], messages: unique(messages[reason])})
	}
	return out
}

// checkOf returns the check that reports a problem: one of its own, or the one for all others.
func (s *source) checkOf(reason string) string {
	p := s.byName["componentplan"]
	if p == nil {
		return ""
	}
	var other string
	var own []string
	here := scope{pkg: p}
	for name, value := range p.constants {
		if text := here.text(value); name == "CheckOtherProblem" {
			other = text
		} else if strings.HasPrefix(name, "Check") {
			own = append(own, text)
		}
	}
	if slices.Contains(own, reason) {
		return reason
	}
	return other
}
