package main

import (
	"path"
	"strings"
)

// longComments counts comment lines in Go files that are too wide, not phrases.
const longComments = "wide-comments"

// areas has the parts of the repository in which phrases are counted, in the order of the table.
var areas = []string{"docs", "goldens", "crds", "go"}

// areaOf returns the area that a file belongs to, or "" if its words are not counted.
func areaOf(file string) string {
	ext := path.Ext(file)
	switch {
	case (below(file, "docs") || below(file, "examples")) && ext != ".json":
		return "docs"
	case ext == ".md" && !strings.Contains(file, "/"):
		return "docs"
	case below(file, "config/crd"):
		return "crds"
	case isGolden(file):
		return "goldens"
	case ext == ".go" && !strings.HasSuffix(file, "_test.go"):
		return "go"
	}
	return ""
}

// isGolden reports whether a file holds output that a user reads.
func isGolden(file string) bool {
	name := path.Base(file)
	if !strings.Contains(file, "/testdata/") {
		return false
	}
	return strings.Contains(name, ".golden") || path.Ext(name) == ".txt"
}

func below(file, folder string) bool { return strings.HasPrefix(file, folder+"/") }

// skipped reports whether a directory holds no text of the project.
func skipped(dir string) bool {
	name := path.Base(dir)
	return dir != "." && strings.HasPrefix(name, ".") || dir == "bin" || dir == "out" || name == "node_modules" || name == "vendor"
}
