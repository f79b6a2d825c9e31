package main

import (
	"strings"
	"testing"
)

func TestWideCommentLines(t *testing.T) {
	wide := strings.Repeat("x", maxColumns)
	for name, tc := range map[string]struct {
		text string
		want int
	}{
		"a line of exactly the width":   {"// " + wide[3:], 0},
		"a wide line":                   {"// " + wide, 1},
		"tabs count as four columns":    {"\t// " + wide[6:], 1},
		"a wide line of a block":        {"/*\n" + wide + "x\n*/", 1},
		"code before a comment":         {"var x = 1 // " + wide, 0},
		"a directive":                   {"//nolint:lll // " + wide, 0},
		"a marker":                      {"// +kubebuilder:" + wide, 0},
		"a wide raw string":             {"var x = `\n// " + wide + "\n`", 0},
		"characters that are not bytes": {"// " + strings.Repeat("é", maxColumns-3), 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wideComments("x.go", []byte("package x\n\n"+tc.text+"\n")); len(got) != tc.want {
				t.Errorf("found %+v, want %d", got, tc.want)
			}
		})
	}
}
