package main

import (
	"go/ast"
	"strings"
)

// check is a preflight check.
type check struct {
	id, severity, meaning string
	agent, binding        bool
	remedies              []string
}

// checks returns the list of internal/upgrade/preflight/checks.go: id, severity, traits, parts,
// function, description.
func (s *source) checks() []check {
	p := s.byName["preflight"]
	var out []check
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || literal.Type != nil || len(literal.Elts) != 6 {
				return true
			}
			traits := strings.Join(namesIn(literal.Elts[2]), " ")
			here := scope{pkg: p}
			out = append(out, check{
				id: here.text(literal.Elts[0]), severity: lastName(literal.Elts[1]), meaning: here.text(literal.Elts[5]),
				agent: strings.Contains(traits, "agent"), binding: strings.Contains(traits, "binding"),
				remedies: p.remediesOf(lastName(literal.Elts[4]), lastName(literal.Elts[0])),
			})
			return true
		})
	}
	return out
}

func namesIn(e ast.Expr) []string {
	var names []string
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			names = append(names, name.Name)
		}
		return true
	})
	return names
}
