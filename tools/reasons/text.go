package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// aliases has the packages that are imported under another name.
var aliases = map[string]string{"refitv1alpha1": "v1alpha1"}

// scope is where an expression stands: its package and its function.
type scope struct {
	pkg      *pkg
	function *ast.FuncDecl
	// arguments are the texts of the parameters, in a function that is evaluated for a call.
	arguments map[string]string
	// first is set where the first of several texts that a function returns stands for all.
	first bool
}

// text evaluates a string expression. A part that only the running code has becomes a placeholder.
func (s scope) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
		return e.Value
	case *ast.ParenExpr:
		return s.text(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.text(e.X) + s.text(e.Y)
		}
	case *ast.Ident:
		return s.name(e)
	case *ast.SelectorExpr:
		return s.selected(e)
	case *ast.CallExpr:
		return s.called(e)
	case *ast.IndexExpr:
		return s.text(e.X)
	}
	return "…"
}

func (s scope) name(e *ast.Ident) string {
	if text, ok := s.arguments[e.Name]; ok {
		return text
	}
	if value, ok := s.pkg.constants[e.Name]; ok {
		return scope{pkg: s.pkg}.text(value)
	}
	if value := s.assigned(e.Name); value != nil && s.parameterNamed(e.Name) == own {
		return s.text(value)
	}
	return placeholder(e.Name)
}

// assigned returns the first string that the function assigns to a variable or a constant, or nil.
func (s scope) assigned(name string) ast.Expr {
	if s.function == nil {
		return nil
	}
	var found ast.Expr
	ast.Inspect(s.function.Body, func(n ast.Node) bool {
		if value, ok := n.(*ast.ValueSpec); ok && len(value.Values) == 1 && value.Names[0].Name == name && s.pkg.isText(value.Values[0]) {
			found = value.Values[0]
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || found != nil || len(a.Lhs) != len(a.Rhs) {
			return found == nil
		}
		for i := range a.Lhs {
			if lastName(a.Lhs[i]) == name && s.pkg.isText(a.Rhs[i]) && s.text(a.Rhs[i]) != "" {
				found = a.Rhs[i]
			}
		}
		return true
	})
	return found
}

// isText reports whether an expression is a string that is written in the code.
func (p *pkg) isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return p.isText(e.X) || p.isText(e.Y)
	case *ast.CallExpr:
		return lastName(e.Fun) == "Sprintf" || p.textFunction(lastName(e.Fun)) != nil
	}
	return false
}

func (s scope) selected(e *ast.SelectorExpr) string {
	name := lastName(e.X)
	if alias, ok := aliases[name]; ok {
		name = alias
	}
	if p := s.pkg.source.byName[name]; p != nil {
		if value, ok := p.constants[e.Sel.Name]; ok {
			return scope{pkg: p}.text(value)
		}
	}
	return placeholder(e.Sel.Name)
}

// transparent are functions whose text is that of their first argument.
var transparent = []string{"string", "Join", "Dir", "Base", "ToLower", "lower", "joinNames"}

func (s scope) called(e *ast.CallExpr) string {
	name := lastName(e.Fun)
	switch {
	case name == "Sprintf" && len(e.Args) > 0:
		return s.format(e.Args[0], e.Args[1:])
	case len(e.Args) > 0 && slices.Contains(transparent, name):
		return s.text(e.Args[0])
	}
	if f := s.pkg.textFunction(name); f != nil {
		return s.evaluated(f, e.Args)
	}
	if texts := s.returns(e); s.first && len(texts) > 0 && !strings.Contains(texts[0], "…") {
		return texts[0]
	}
	if method, ok := e.Fun.(*ast.SelectorExpr); s.first && ok && strings.HasSuffix(name, "String") {
		return s.text(method.X)
	}
	return placeholder(name)
}

// textFunction returns the function of the package that does nothing but return a formatted text,
// or nil.
func (p *pkg) textFunction(name string) (found *ast.FuncDecl) {
	p.functions(func(f *ast.FuncDecl) {
		if text := returned(f); f.Name.Name == name && f.Recv == nil && text != nil && p.isText(text) {
			found = f
		}
	})
	return found
}

// returned is the value of a function that does nothing but return one, or nil.
func returned(f *ast.FuncDecl) ast.Expr {
	if len(f.Body.List) != 1 {
		return nil
	}
	if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
		return r.Results[0]
	}
	return nil
}

// evaluated returns the text of a function for the arguments of a call.
func (s scope) evaluated(f *ast.FuncDecl, arguments []ast.Expr) string {
	return s.inside(f, arguments).text(returned(f))
}

// inside is the scope of a function that is called with these arguments.
func (s scope) inside(f *ast.FuncDecl, arguments []ast.Expr) scope {
	inside := scope{pkg: s.pkg, function: f, arguments: map[string]string{}, first: s.first}
	at := 0
	for _, field := range f.Type.Params.List {
		for _, parameter := range field.Names {
			if at < len(arguments) {
				inside.arguments[parameter.Name] = s.text(arguments[at])
			}
			at++
		}
	}
	return inside
}

// verb matches what Sprintf replaces.
var verb = regexp.MustCompile(`%(?:\[([0-9])\])?[-+# 0]*[0-9]*(?:\.[0-9]+)?[a-zA-Z%]`)

func (s scope) format(format ast.Expr, args []ast.Expr) string {
	next := 0
	return verb.ReplaceAllStringFunc(s.text(format), func(v string) string {
		if v == "%%" {
			return "%"
		}
		next++
		if index := verb.FindStringSubmatch(v)[1]; index != "" {
			next = int(index[0] - '0')
		}
		if next > len(args) {
			return "…"
		}
		return s.text(args[next-1])
	})
}

// placeholder returns the name of a variable as documentation writes it: envelopeFile is
// ENVELOPE-FILE.
func placeholder(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]) {
			out.WriteByte('-')
		}
		out.WriteRune(unicode.ToUpper(r))
	}
	return out.String()
}
