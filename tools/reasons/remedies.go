package main

import (
	"go/ast"
	"slices"
	"strings"
)

// remediesOf returns the remedies of a check: those that its function and the functions it calls
// write into findings or, for a check without a function of its own, those of its identifier.
func (p *pkg) remediesOf(function, id string) []string {
	var out []string
	p.functions(func(f *ast.FuncDecl) {
		if f.Name.Name == function && f.Recv == nil || id != "" && names(f.Body, id) {
			out = append(out, p.writtenBy(f, nil)...)
		}
	})
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "EDIT", "edit the object that the finding names")
	}
	return unique(out)
}

func (p *pkg) writtenBy(f *ast.FuncDecl, callers []*ast.FuncDecl) []string {
	if slices.Contains(callers, f) {
		return nil
	}
	callers = append(slices.Clone(callers), f)
	here := scope{pkg: p, function: f, first: true}
	var out []string
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			out = append(out, here.remedies(fieldsOf(n)["Remedy"])...)
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && len(n.Rhs) == 1 && lastName(n.Lhs[0]) == "Remedy" {
				out = append(out, here.remedies(n.Rhs[0])...)
			}
		case *ast.CallExpr:
			if called := p.function(n.Fun); called != nil {
				out = append(out, p.writtenBy(called, callers)...)
			}
			out = append(out, here.remedies(here.passed(n, "remedy"))...)
		}
		return true
	})
	return out
}

// function returns the function of the package that a call names, or nil. A method has its name for
// itself.
func (p *pkg) function(called ast.Expr) (found *ast.FuncDecl) {
	_, isMethod := called.(*ast.SelectorExpr)
	several := false
	p.functions(func(f *ast.FuncDecl) {
		if f.Name.Name == lastName(called) && (f.Recv != nil) == isMethod {
			several = found != nil
			found = f
		}
	})
	if several {
		return nil
	}
	return found
}

// passed returns the argument of a call for a parameter of a function that is a variable, or nil.
func (s scope) passed(call *ast.CallExpr, parameter string) (found ast.Expr) {
	ast.Inspect(s.function.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || lastName(a.Lhs[0]) != lastName(call.Fun) {
			return true
		}
		literal, ok := a.Rhs[0].(*ast.FuncLit)
		if !ok {
			return true
		}
		at := 0
		for _, field := range literal.Type.Params.List {
			for _, name := range field.Names {
				if name.Name == parameter && at < len(call.Args) {
					found = call.Args[at]
				}
				at++
			}
		}
		return true
	})
	return found
}

// remedies returns the texts of an expression: one that is written in the code, or those that a
// function of the package returns.
func (s scope) remedies(e ast.Expr) []string {
	switch e := e.(type) {
	case nil:
		return nil
	case *ast.Ident:
		if _, constant := s.pkg.constants[e.Name]; constant || s.assigned(e.Name) != nil {
			return []string{s.text(e)}
		}
		return nil
	case *ast.CallExpr:
		if !s.pkg.isText(e) {
			return s.returns(e)
		}
	}
	return s.written(e)
}

// returns evaluates every text that the function of a call returns.
func (s scope) returns(call *ast.CallExpr) []string {
	f := s.pkg.function(call.Fun)
	if f == nil {
		return nil
	}
	var out []string
	inside := s.inside(f, call.Args)
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			out = append(out, inside.written(r.Results[0])...)
		}
		return true
	})
	return out
}

// names reports whether an identifier is a part of a node.
func names(n ast.Node, identifier string) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && name.Name == identifier
		return !found
	})
	return found
}
