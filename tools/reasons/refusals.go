package main

import (
	"go/ast"
	"strings"
)

// refusal is a reason to reject an order.
type refusal struct {
	reason, message string
}

// refusals returns the reasons for which agents reject orders: literals of Refusal, and calls with
// a constant such as RefusedEpoch and a format.
func (s *source) refusals() []refusal {
	var out []refusal
	for _, p := range s.packages {
		p.functions(func(f *ast.FuncDecl) {
			here := scope{pkg: p, function: f}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if found, ok := here.refusal(n); ok {
					out = append(out, found)
				}
				return true
			})
		})
	}
	return out
}

func (s scope) refusal(n ast.Node) (refusal, bool) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		fields := fieldsOf(n)
		if lastName(n.Type) == "Refusal" && fields["Reason"] != nil && fields["Message"] != nil {
			return refusal{s.text(fields["Reason"]), s.text(fields["Message"])}, true
		}
	case *ast.CallExpr:
		if len(n.Args) > 1 && strings.HasPrefix(lastName(n.Args[0]), "Refused") {
			return refusal{s.text(n.Args[0]), s.format(n.Args[1], n.Args[2:])}, true
		}
	}
	return refusal{}, false
}
