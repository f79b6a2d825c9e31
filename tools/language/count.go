package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// use is one place where a phrase is used.
type use struct {
	area, phrase, instead string
	file                  string
	line                  int
	text                  string
}

// result holds what was counted in a checkout.
type result struct {
	uses    []use
	allowed map[string]int // by area
	wide    []use
	idle    []allowance // allowances that permit nothing
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// count finds the phrases and the wide comment lines in every file of a checkout.
func count(root fs.FS, l *list) (*result, error) {
	r := &result{allowed: map[string]int{}}
	needed := make([]bool, len(l.Allowed))
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(file):
			return fs.SkipDir
		case entry.IsDir() || areaOf(file) == "" && path.Ext(file) != ".go":
			return nil
		}
		text, err := fs.ReadFile(root, file)
		if err != nil || generated.Match(text) {
			return err
		}
		if path.Ext(file) == ".go" {
			r.wide = append(r.wide, wideComments(file, text)...)
		}
		if area := areaOf(file); area != "" {
			r.add(area, file, text, l, needed)
		}
		return nil
	})
	for i, a := range l.Allowed {
		if !needed[i] {
			r.idle = append(r.idle, a)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the checkout: %w", err)
	}
	return r, nil
}

// add counts the phrases in one file. It marks the allowances that the file needs.
func (r *result) add(area, file string, text []byte, l *list, needed []bool) {
	permitted := permittedIn(file, text, l)
	for _, p := range l.Phrases {
		for _, at := range p.pattern.FindAllIndex(text, -1) {
			if by := permitted.cover(at); by >= 0 {
				needed[by] = true
				r.allowed[area]++
				continue
			}
			r.uses = append(r.uses, use{
				area: area, phrase: p.Not, instead: p.Use, file: file,
				line: 1 + bytes.Count(text[:at[0]], []byte("\n")), text: string(text[at[0]:at[1]]),
			})
		}
	}
}

// spans are parts of a file, each with the index of the allowance that permits it.
type spans []struct{ from, to, by int }

func permittedIn(file string, text []byte, l *list) spans {
	var found spans
	for i, a := range l.Allowed {
		if matched, err := path.Match(a.Path, file); err != nil || !matched {
			continue
		}
		for _, at := range a.pattern.FindAllIndex(text, -1) {
			found = append(found, struct{ from, to, by int }{at[0], at[1], i})
		}
	}
	return found
}

// cover returns the index of the allowance that permits a match, or -1.
func (s spans) cover(at []int) int {
	for _, span := range s {
		if span.from <= at[0] && at[1] <= span.to {
			return span.by
		}
	}
	return -1
}

// found returns the count that a limit applies to.
func (r *result) found(area string) int {
	if area == longComments {
		return len(r.wide)
	}
	n := 0
	for _, u := range r.uses {
		if u.area == area {
			n++
		}
	}
	return n
}

// check returns an error for each area above its limit and each allowance without effect.
func (r *result) check(l *list) error {
	var errs []error
	for _, area := range slices.Concat(areas, []string{longComments}) {
		if n, limit := r.found(area), l.Limits[area]; n > limit {
			errs = append(errs, fmt.Errorf("%s: %d uses exceed the limit of %d; list them with `go run ./tools/language -v`", area, n, limit))
		}
	}
	for _, a := range r.idle {
		errs = append(errs, fmt.Errorf("%s: the allowed use %q permits nothing; remove it from the list", a.Path, a.Text))
	}
	return errors.Join(errs...)
}
