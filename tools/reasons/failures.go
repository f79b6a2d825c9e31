package main

import (
	"go/ast"
	"regexp"
	"strings"
)

// failure is a failure of a host, as one line of code reports it.
type failure struct {
	class, reason, message, remedy string
}

// constructor is a function that returns a failure. The numbers are the positions of its
// parameters; a text that is not a parameter is in the function itself.
type constructor struct {
	class                   string
	reason, remedy, message int
	own                     failure
	// These are the function itself and the failure in it, nil for those of the node package.
	pkg       *pkg
	function  *ast.FuncDecl
	call      *ast.CallExpr
	ownRemedy int // the position of the remedy in call
}

const own = -1

// The constructors of internal/upgrade/node: reason, error, remedy, format, arguments.
var constructors = map[string]constructor{
	"Transient":          {class: "Transient", reason: 0, remedy: 2, message: 3},
	"ManualIntervention": {class: "ManualInterventionRequired", reason: 0, remedy: 2, message: 3},
	"HostBroken":         {class: "HostBroken", reason: 0, remedy: 2, message: 3},
}

// classifier is the function of refit-components that returns the failure of any error. Its local
// function failed takes a reason and a remedy.
const (
	classifier = "FailureOf"
	classified = "failed"
)

// failures returns the failures that the code can report. A failure without a reason in the code
// belongs to a function that gets it from its callers, where it is found.
func (s *source) failures() []failure {
	var out []failure
	for _, p := range s.packages {
		known := p.constructors()
		p.functions(func(f *ast.FuncDecl) {
			here := scope{pkg: p, function: f}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if found, ok := here.reported(n, known); ok && isReason(found.reason) && !known[f.Name.Name].completedByCallers(n) {
					out = append(out, found)
				}
				return true
			})
		})
	}
	return out
}

// completedByCallers reports whether a node is the failure of a function whose callers complete its
// remedy: each of them is found with its own.
func (c constructor) completedByCallers(n ast.Node) bool {
	if c.call == nil || n != c.call {
		return false
	}
	here := scope{pkg: c.pkg, function: c.function, arguments: map[string]string{}}
	plain := here.text(c.call.Args[c.ownRemedy])
	for _, field := range c.function.Type.Params.List {
		for _, parameter := range field.Names {
			here.arguments[parameter.Name] = "?"
		}
	}
	return c.remedy == own && here.text(c.call.Args[c.ownRemedy]) != plain
}

func (s scope) reported(n ast.Node, known map[string]constructor) (failure, bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if local, ok := n.Fun.(*ast.Ident); ok && local.Name == classified && s.function.Name.Name == classifier && len(n.Args) == 2 {
			s.first = true
			return failure{class: "ManualInterventionRequired", reason: s.text(n.Args[0]), remedy: s.text(n.Args[1])}, true
		}
		c, ok := s.pkg.constructorOf(n, known)
		if !ok {
			return failure{}, false
		}
		return s.failure(c, n), true
	case *ast.AssignStmt:
		return s.replaced(n)
	}
	return failure{}, false
}

// constructors returns the functions of the package that return a failure with texts of their
// caller.
func (p *pkg) constructors() map[string]constructor {
	known := map[string]constructor{}
	p.functions(func(f *ast.FuncDecl) {
		if _, ok := constructors[f.Name.Name]; ok && p.name == "node" {
			return
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			base, ok := p.constructorOf(call, nil)
			if !ok {
				return true
			}
			if c, ok := (scope{pkg: p, function: f}).wrapper(base, call); ok {
				known[f.Name.Name] = c
			}
			return true
		})
	})
	return known
}

// constructorOf returns the constructor that a call names.
func (p *pkg) constructorOf(call *ast.CallExpr, known map[string]constructor) (constructor, bool) {
	name := lastName(call.Fun)
	if c, ok := known[name]; ok {
		return c, true
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if p.name != "node" && (!ok || lastName(selector.X) != "node") {
		return constructor{}, false
	}
	c, ok := constructors[name]
	return c, ok && len(call.Args) > 3
}

// wrapper returns a function as a constructor if the reason or the message of its failure is a
// parameter.
func (s scope) wrapper(base constructor, call *ast.CallExpr) (constructor, bool) {
	c := constructor{class: base.class, reason: s.parameter(call.Args[base.reason]), remedy: s.parameter(call.Args[base.remedy]), own: s.failure(base, call)}
	c.pkg, c.function, c.call, c.ownRemedy = s.pkg, s.function, call, base.remedy
	c.message = s.parameter(call.Args[base.message])
	if c.message == own && s.text(call.Args[base.message]) == "%s" && len(call.Args) > base.message+1 {
		c.message = s.parameter(call.Args[base.message+1])
	}
	if c.message == own && s.formatted(call, base.message) {
		c.message = s.parameterNamed("format")
	}
	return c, c.reason != own || c.message != own
}

// formatted reports whether the message of a failure was formatted with a parameter before.
func (s scope) formatted(call *ast.CallExpr, at int) bool {
	return len(call.Args) > at+1 && s.text(call.Args[at]) == "%s" && s.parameterNamed("format") != own
}

func (s scope) parameter(e ast.Expr) int {
	if name, ok := e.(*ast.Ident); ok {
		return s.parameterNamed(name.Name)
	}
	return own
}

func (s scope) parameterNamed(name string) int {
	at := 0
	if s.function == nil {
		return own
	}
	for _, field := range s.function.Type.Params.List {
		for _, parameter := range field.Names {
			if parameter.Name == name {
				return at
			}
			at++
		}
	}
	return own
}

// failure returns the failure that a call makes.
func (s scope) failure(c constructor, call *ast.CallExpr) failure {
	f := failure{class: c.class, reason: c.own.reason, remedy: c.own.remedy, message: c.own.message}
	if at := c.reason; at != own && at < len(call.Args) {
		f.reason = s.text(call.Args[at])
	}
	switch at := c.remedy; {
	case at != own && at < len(call.Args):
		f.remedy = s.text(call.Args[at])
	case c.function != nil:
		f.remedy = s.inside(c.function, call.Args).text(c.call.Args[c.ownRemedy])
	}
	if at := c.message; at != own && at < len(call.Args) {
		f.message = s.format(call.Args[at], call.Args[at+1:])
	}
	return f
}

// replaced returns the failure of an assignment of reason and remedy, which changes one.
func (s scope) replaced(a *ast.AssignStmt) (failure, bool) {
	if len(a.Lhs) != 2 || len(a.Rhs) != 2 || !strings.EqualFold(lastName(a.Lhs[0]), "reason") || !strings.EqualFold(lastName(a.Lhs[1]), "remedy") {
		return failure{}, false
	}
	f := failure{class: "ManualInterventionRequired", reason: s.text(a.Rhs[0]), remedy: s.text(a.Rhs[1])}
	return f, s.pkg.isText(a.Rhs[1])
}

var reason = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$`)

// isReason reports whether a text is a reason, not a placeholder.
func isReason(text string) bool { return reason.MatchString(text) }
