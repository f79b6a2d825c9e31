package main

import (
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

const (
	maxColumns = 100
	tabColumns = 4
)

// wideComments finds lines that hold only a comment and are wider than maxColumns. Directives and
// markers cannot be wrapped, so they may be wider.
func wideComments(file string, text []byte) []use {
	files := token.NewFileSet()
	f := files.AddFile(file, files.Base(), len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, scanner.ScanComments)
	lines := strings.Split(string(text), "\n")
	var found []use
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return found
		}
		if tok != token.COMMENT || isDirective(literal) {
			continue
		}
		first := f.Line(pos)
		for n := first; n <= first+strings.Count(literal, "\n"); n++ {
			line := lines[n-1]
			if n == first && !strings.HasPrefix(strings.TrimSpace(line), literal[:2]) {
				continue // code stands before the comment
			}
			if columns(line) > maxColumns {
				found = append(found, use{area: longComments, file: file, line: n, text: strings.TrimSpace(line)})
			}
		}
	}
}

func isDirective(comment string) bool {
	body, isLine := strings.CutPrefix(comment, "//")
	return isLine && body != "" && body[0] != ' ' && body[0] != '\t' || strings.HasPrefix(body, " +")
}

func columns(line string) int {
	return utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
}
