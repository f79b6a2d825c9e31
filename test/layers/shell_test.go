package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"
)

// TestNoProductCodeStartsAShell prevents shell strings, which are easily quoted wrongly. Product
// code executes binaries by name, with arguments. No linter checks the arguments of a call, so this
// test does.
func TestNoProductCodeStartsAShell(t *testing.T) {
	walkGo(t, func(file string) {
		if strings.HasPrefix(file, "test/") || strings.HasSuffix(file, "_test.go") {
			return
		}
		text, err := fs.ReadFile(repository(), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range shells(t, file, string(text)) {
			t.Errorf("%s starts a shell", at)
		}
	})
}

func TestShellsAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		expression string
		want       int
	}{
		"a shell by name":                    {`exec.Command("sh", script)`, 1},
		"a shell by path":                    {`exec.CommandContext(ctx, "/bin/bash", "x.sh")`, 1},
		"a shell string through a helper":    {`run(ctx, "sh", "-c", "reboot")`, 1},
		"a shell string in a list":           {`[]string{"nsenter", "-t", "1", "bash", "-ec", "reboot"}`, 1},
		"a binary by name":                   {`exec.Command("systemctl", "restart", "kubelet")`, 0},
		"a flag -c of a binary":              {`exec.Command("tar", "-c", "dir")`, 0},
		"the word in a list of words":        {`[]string{"sh", "cat", "cp"}`, 0},
		"a binary whose name has the word":   {`exec.Command("pushd-helper", "-c")`, 0},
		"a name that is not known until run": {`exec.Command(name, "-c")`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := shells(t, "x.go", "package x\n\nvar _ = "+tc.expression+"\n"); len(got) != tc.want {
				t.Errorf("found %v, want %d", got, tc.want)
			}
		})
	}
}

// shells lists the places where a file names a shell as the binary to execute: in a call of
// os/exec, or as a literal that a literal -c follows.
func shells(t *testing.T, name, text string) []token.Position {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []token.Position
	ast.Inspect(file, func(node ast.Node) bool {
		var words []ast.Expr
		binary := -1 // the index of the argument that names a binary
		switch n := node.(type) {
		case *ast.CallExpr:
			words = n.Args
			binary = binaryArgument(n.Fun)
		case *ast.CompositeLit:
			words = n.Elts
		}
		for i, word := range words {
			if isShell(word) && (i == binary || i+1 < len(words) && isDashC(words[i+1])) {
				found = append(found, files.Position(word.Pos()))
			}
		}
		return true
	})
	return found
}

// binaryArgument returns the index of the binary among a call's arguments.
func binaryArgument(called ast.Expr) int {
	selector, ok := called.(*ast.SelectorExpr)
	if !ok {
		return -1
	}
	if from, ok := selector.X.(*ast.Ident); !ok || from.Name != "exec" {
		return -1
	}
	switch selector.Sel.Name {
	case "Command":
		return 0
	case "CommandContext":
		return 1
	}
	return -1
}

func isShell(word ast.Expr) bool {
	switch path.Base(literal(word)) {
	case "sh", "ash", "bash", "dash", "ksh", "zsh":
		return true
	}
	return false
}

func isDashC(word ast.Expr) bool {
	flag := literal(word)
	return strings.HasPrefix(flag, "-") && strings.HasSuffix(flag, "c")
}

// literal returns the value of a string literal, or an empty string.
func literal(word ast.Expr) string {
	basic, ok := word.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(basic.Value)
	if err != nil {
		return ""
	}
	return text
}
