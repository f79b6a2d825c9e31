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
	doc   string
	typ   string // of the constants, if they have one of their own
	words []word
}

// word is one constant with a text as its value.
type word struct{ value, meaning string }

// readWords reads the blocks of text constants of a package, in their order.
func readWords(folder string) ([]group, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("looking for Go files: %w", err)
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
		found, err := parseWords(file, source)
		if err != nil {
			return nil, err
		}
		groups = append(groups, found...)
	}
	return groups, nil
}

func parseWords(file string, source []byte) ([]group, error) {
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
			if constant, ok := spec.(*ast.ValueSpec); ok {
				g.add(constant)
			}
		}
		if len(g.words) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// add takes a constant in, if its value is a text.
func (g *group) add(constant *ast.ValueSpec) {
	if len(constant.Values) != 1 {
		return
	}
	literal, ok := constant.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	if typ, ok := constant.Type.(*ast.Ident); ok {
		g.typ = typ.Name
	}
	meaning := oneLine(constant.Comment.Text())
	if doc := oneLine(constant.Doc.Text()); doc != "" {
		// "ReasonPaused: spec.paused is set." and "ConditionReady is True when …"
		meaning = doc
		for _, lead := range []string{": ", " is "} {
			if rest, ok := strings.CutPrefix(doc, constant.Names[0].Name+lead); ok {
				meaning = rest
			}
		}
	}
	g.words = append(g.words, word{value, meaning})
}

// explained says whether the values mean more than they say.
func (g *group) explained() bool {
	for _, w := range g.words {
		if w.meaning != "" {
			return true
		}
	}
	return false
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
