// Command docs copies golden files into the documentation, so that no page shows output that Refit
// does not print.
//
//	go run ./tools/docs           # write the screens and the picture
//	go run ./tools/docs -verify   # fail if one is out of date
//
// A screen is a fenced block below a comment that names the golden file; with head, only the first
// lines of the file are copied:
//
//	<!-- screen: internal/cli/text/testdata/check-ha-100.golden head 20 -->
//
// The picture of README.md is the golden file of the live view, drawn as SVG.
package main
