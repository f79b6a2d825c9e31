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
	p, offered := s.byName["preflight"], s.offered()
	var out []check
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || literal.Type != nil || len(literal.Elts) != 6 {
				return true
			}
			traits := strings.Join(namesIn(literal.Elts[2]), " ")
			here := scope{pkg: p}
			id := here.text(literal.Elts[0])
			out = append(out, check{
				id: id, severity: lastName(literal.Elts[1]), meaning: here.text(literal.Elts[5]),
				agent: strings.Contains(traits, "agent"), binding: strings.Contains(traits, "binding"),
				remedies: append(p.remediesOf(lastName(literal.Elts[4]), lastName(literal.Elts[0])), offered[id]...),
			})
			return true
		})
	}
	return out
}

// offered returns the remedies of what refit-components reports in its offers, by the reason.
func (s *source) offered() map[string][]string {
	p, out := s.byName["offer"], map[string][]string{}
	if p == nil {
		return out
	}
	here := scope{pkg: p}
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || v.Names[0].Name != "remedies" || len(v.Values) != 1 {
				return true
			}
			if table, ok := v.Values[0].(*ast.CompositeLit); ok {
				for _, e := range table.Elts {
					if row, ok := e.(*ast.KeyValueExpr); ok {
						out[here.text(row.Key)] = []string{here.text(row.Value)}
					}
				}
			}
			return false
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
