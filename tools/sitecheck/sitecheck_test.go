package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLinksOfASite(t *testing.T) {
	for name, test := range map[string]struct {
		body, problem string
	}{
		"a page":                         {`<a href="/docs/sub/page.html">`, ""},
		"a page by its relative path":    {`<a href="sub/page.html">`, ""},
		"the start page":                 {`<a href="/docs/">`, ""},
		"an anchor":                      {`<a href="/docs/sub/page.html#there">`, ""},
		"an anchor of the same page":     {`<h2 id="here"></h2><a href="#here">`, ""},
		"an asset":                       {`<img src="/docs/a.svg"><link href="/docs/a.css" rel="stylesheet">`, ""},
		"an inline image":                {`<link rel="icon" href="data:image/svg+xml,a">`, ""},
		"another host":                   {`<a href="https://kubernetes.io/x">`, ""},
		"a file of the repository":       {`<a href="https://git.example/r/blob/main/a/b.go#L1">`, ""},
		"a folder of the repository":     {`<a href="https://git.example/r/tree/main/a">`, ""},
		"a file of a tag":                {`<a href="https://git.example/r/blob/v0.1.0/gone.go">`, ""},
		"a missing page":                 {`<a href="/docs/missing.html">`, "has no missing.html"},
		"a missing relative page":        {`<a href="sub/missing.html">`, "has no sub/missing.html"},
		"a missing anchor":               {`<a href="/docs/sub/page.html#nowhere">`, "has no anchor nowhere"},
		"a missing anchor of this page":  {`<a href="#nowhere">`, "has no anchor nowhere"},
		"a page outside the base":        {`<a href="/sub/page.html">`, "outside the site"},
		"a missing asset":                {`<script src="/docs/missing.js"></script>`, "has no missing.js"},
		"a Markdown file":                {`<a href="sub/page.md">`, "has no sub/page.md"},
		"a missing file":                 {`<a href="https://git.example/r/blob/main/a/c.go">`, "no a/c.go"},
		"a folder as a file":             {`<a href="https://git.example/r/blob/main/a">`, "no a of this kind"},
		"a font of another host":         {`<link rel="stylesheet" href="https://fonts.example/a.css">`, "another host"},
		"a script without a scheme":      {`<script src="//cdn.example/a.js"></script>`, "another host"},
		"an image of another host":       {`<img srcset="https://a.example/b.png 2x">`, "another host"},
		"a background from another host": {`<div style="background: url('https://a.example/b.png')">`, "another host"},
	} {
		t.Run(name, func(t *testing.T) {
			problems := checkSite(t, test.body, "a { color: red }")
			switch {
			case test.problem == "" && len(problems) > 0:
				t.Errorf("got %q", problems)
			case test.problem != "" && (len(problems) != 1 || !strings.Contains(problems[0], test.problem)):
				t.Errorf("got %q, want one with %q", problems, test.problem)
			}
		})
	}
}

func TestStyleSheetsLoadNothingFromOtherHosts(t *testing.T) {
	for text, count := range map[string]int{
		`a { background: url("data:image/svg+xml,b") }`:      0,
		`a { background: url(/docs/a.svg) }`:                 0,
		`@import "https://fonts.example/inter.css";`:         1,
		`@font-face { src: url(//fonts.example/inter.woff)}`: 1,
	} {
		if problems := checkSite(t, "", text); len(problems) != count {
			t.Errorf("%s: got %q", text, problems)
		}
	}
}

func checkSite(t *testing.T, body, css string) []string {
	t.Helper()
	s, err := read(fstest.MapFS{
		"index.html":    {Data: []byte("<!doctype html><body>" + body)},
		"sub/page.html": {Data: []byte(`<h2 id="there">There</h2><a href="../index.html">start</a>`)},
		"a.svg":         {}, "a.css": {Data: []byte(css)},
	}, "/docs/")
	if err != nil {
		t.Fatal(err)
	}
	s.repository, s.checkout = "https://git.example/r", fstest.MapFS{"a/b.go": {}}
	return s.check()
}
