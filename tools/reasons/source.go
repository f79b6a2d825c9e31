package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// source is the parsed code of the product, without tests.
type source struct {
	packages []*pkg
	byName   map[string]*pkg
}

// pkg is one package.
type pkg struct {
	name  string
	path  string // of its folder, from the root
	files []*ast.File
	// constants has the values of package constants, comments the text above each.
	constants map[string]ast.Expr
	comments  map[string]string
	source    *source
}

func readSource(root string, folders ...string) (*source, error) {
	s := &source{byName: map[string]*pkg{}}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(dir string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			return s.read(root, dir)
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", folder, err)
		}
	}
	return s, nil
}

func (s *source) read(root, dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	path, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	p := &pkg{path: filepath.ToSlash(path), constants: map[string]ast.Expr{}, comments: map[string]string{}, source: s}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		p.name = file.Name.Name
		p.files = append(p.files, file)
		p.addConstants(file)
	}
	if len(p.files) > 0 {
		s.packages = append(s.packages, p)
		s.byName[p.name] = p
	}
	return nil
}

func (p *pkg) addConstants(file *ast.File) {
	for _, declaration := range file.Decls {
		list, ok := declaration.(*ast.GenDecl)
		if !ok || list.Tok != token.CONST {
			continue
		}
		for _, spec := range list.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, name := range value.Names {
				if i < len(value.Values) {
					p.constants[name.Name] = value.Values[i]
					p.comments[name.Name] = strings.Join(strings.Fields(value.Doc.Text()), " ")
				}
			}
		}
	}
}

// functions calls visit with each function of the package.
func (p *pkg) functions(visit func(*ast.FuncDecl)) {
	for _, file := range p.files {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Body != nil {
				visit(f)
			}
		}
	}
}

// fieldsOf returns the fields that a composite literal sets by name.
func fieldsOf(literal *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			fields[lastName(pair.Key)] = pair.Value
		}
	}
	return fields
}

// lastName returns the name of an identifier, or the last one of a selector.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
