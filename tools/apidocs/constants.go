package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// group is a block of constants: the values of a field, condition types, reasons.
type group struct {
	doc       string
	typ       string // type of the constants, if they have one
	constants []constant
}

// constant is a string constant.
type constant struct{ value, meaning string }

// readConstants reads the blocks of string constants of a package, in order.
func readConstants(dir string) ([]group, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing Go files: %w", err)
	}
	var groups []group
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(filepath.Base(file), "zz_") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the API: %w", err)
		}
		found, err := parseConstants(file, source)
		if err != nil {
			return nil, err
		}
		groups = append(groups, found...)
	}
	return groups, nil
}

func parseConstants(file string, source []byte) ([]group, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("reading the API: %w", err)
	}
	var groups []group
	for _, declaration := range parsed.Decls {
		block, ok := declaration.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST || !block.Lparen.IsValid() {
			continue
		}
		g := group{doc: oneLine(block.Doc.Text())}
		for _, spec := range block.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				g.add(value)
			}
		}
		if len(g.constants) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// add adds a string constant.
func (g *group) add(spec *ast.ValueSpec) {
	if len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	if typ, ok := spec.Type.(*ast.Ident); ok {
		g.typ = typ.Name
	}
	meaning := oneLine(spec.Comment.Text())
	if doc := oneLine(spec.Doc.Text()); doc != "" {
		// "ReasonPaused: spec.paused is set." and "ConditionReady is True when …"
		meaning = doc
		for _, lead := range []string{": ", " is "} {
			if rest, ok := strings.CutPrefix(doc, spec.Names[0].Name+lead); ok {
				meaning = rest
			}
		}
	}
	g.constants = append(g.constants, constant{value, meaning})
}

// explained reports whether any value has a description.
func (g *group) explained() bool {
	for _, w := range g.constants {
		if w.meaning != "" {
			return true
		}
	}
	return false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
