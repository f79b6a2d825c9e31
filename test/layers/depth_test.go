package layers

import (
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	// maxDepth is the largest number of imports in a chain from a command to a package of this
	// module: a reader has to follow no more. The server adds two: itself, and its last
	// known state.
	maxDepth = 8
	// maxCommandLines bounds the code of the CLI: a command has flags and constructors.
	maxCommandLines = 2800
)

func TestImportsOfCommandsAreShallow(t *testing.T) {
	graph := imports(t, "Imports", "../../cmd/...")
	commands := 0
	for pkg := range graph {
		if !strings.HasPrefix(pkg, "cmd/") {
			continue
		}
		commands++
		if chain := longest(graph, pkg); len(chain)-1 > maxDepth {
			t.Errorf("%d imports, at most %d are allowed: %s", len(chain)-1, maxDepth, strings.Join(chain, " > "))
		}
	}
	if commands < 3 {
		t.Errorf("found %d commands: this test looks at the wrong place", commands)
	}
}

func TestTheLongestChainIsFound(t *testing.T) {
	graph := map[string][]string{"a": {"b", "c", "d"}, "b": {"d"}, "c": {"b"}, "d": nil}
	if got, want := longest(graph, "a"), []string{"a", "c", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("longest() = %v, want %v", got, want)
	}
}

// TestEveryCommandRunsAllControllers compares the lists of controllers, of which each command has
// its own, with the folders. The tests with an API server run the same list.
func TestEveryCommandRunsAllControllers(t *testing.T) {
	folders, err := fs.Glob(repository(), "internal/controller/*/doc.go")
	if err != nil || len(folders) == 0 {
		t.Fatalf("found no controllers: %v", err)
	}
	graph := imports(t, "Imports", "../../cmd/...")
	const tests = "test/apiserver/controller"
	graph[tests] = imports(t, "TestImports", "../../"+tests)[tests]
	running := 0
	for pkg, imported := range graph {
		if !slices.Contains(imported, "internal/controller") || pkg == "cmd/refit-components" { // that one runs none of them
			continue
		}
		running++
		for _, file := range folders {
			if folder := path.Dir(file); !slices.Contains(imported, folder) {
				t.Errorf("%s runs controllers, but not %s", pkg, folder)
			}
		}
	}
	if running != 3 {
		t.Errorf("%d packages run controllers, want 3", running)
	}
}

func TestTheCLIHoldsFlagsAndConstructors(t *testing.T) {
	lines := 0
	walkGo(t, func(file string) {
		if path.Dir(file) != "cmd/refit" || strings.HasSuffix(file, "_test.go") {
			return
		}
		text, err := fs.ReadFile(repository(), file)
		if err != nil {
			t.Fatal(err)
		}
		lines += strings.Count(string(text), "\n")
	})
	if lines == 0 || lines > maxCommandLines {
		t.Errorf("cmd/refit has %d lines, want at most %d: move what is neither a flag nor a constructor to internal/", lines, maxCommandLines)
	}
}

// longest returns the longest chain of imports that starts at a package.
func longest(graph map[string][]string, pkg string) []string {
	known := map[string][]string{}
	var from func(string) []string
	from = func(pkg string) []string {
		if chain, ok := known[pkg]; ok {
			return chain
		}
		var tail []string
		for _, next := range graph[pkg] {
			if chain := from(next); len(chain) > len(tail) {
				tail = chain
			}
		}
		known[pkg] = append([]string{pkg}, tail...)
		return known[pkg]
	}
	return from(pkg)
}

// imports returns the imports among the packages of this module, as paths from the root. The field
// of a package in go list is Imports or TestImports.
func imports(t *testing.T, field string, patterns ...string) map[string][]string {
	t.Helper()
	args := append([]string{"list", "-tags", "apiserver", "-deps", "-f", "{{.ImportPath}}{{range ." + field + "}} {{.}}{{end}}"}, patterns...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "github.com/refit-dev/refit/"
	graph := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg, own := strings.CutPrefix(words[0], prefix)
		if !own {
			continue
		}
		graph[pkg] = nil
		for _, imported := range words[1:] {
			if name, own := strings.CutPrefix(imported, prefix); own {
				graph[pkg] = append(graph[pkg], name)
			}
		}
	}
	return graph
}
