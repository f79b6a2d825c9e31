//go:build layers

// The build tag is needed because the pinned linter takes minutes to build in a clean clone: `go
// test ./...` must work without it, and a skipped test would look like a passed one. `make
// test-layers` builds the linter and sets REFIT_LINTER.

package layers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/refit-dev/refit"

// trial is one file that the linter checks.
type trial struct {
	folder string
	as     fileKind
	use    string
	refuse bool
	file   string
}

func TestTheLinterEnforcesTheLayers(t *testing.T) {
	linter := os.Getenv("REFIT_LINTER")
	if linter == "" {
		t.Fatal("REFIT_LINTER is not set: run `make test-layers`")
	}
	trials := allTrials()
	root := t.TempDir()
	writeModule(t, root, trials)
	issues := lint(t, linter, root)

	for _, tr := range trials {
		verb := "may use"
		if tr.refuse {
			verb = "may not use"
		}
		t.Run(fmt.Sprintf("%s %s %s %s", tr.folder, tr.as, verb, tr.use), func(t *testing.T) {
			want := "depguard"
			if isCall(tr.use) {
				want = "forbidigo"
			}
			found := issues[tr.file]
			switch {
			case tr.refuse && !slices.ContainsFunc(found, func(i issue) bool { return i.FromLinter == want }):
				t.Errorf("%s accepts it and reports %v", want, found)
			case !tr.refuse && len(found) > 0:
				t.Errorf("the linter rejects it: %v", found)
			}
		})
	}
}

// allTrials creates one trial of every use in the table. Each has a package of its own below the
// folder, so that trials do not affect each other.
func allTrials() []trial {
	var all []trial
	add := func(b row, use string, refuse bool) {
		n := len(all)
		tr := trial{folder: b.folder, as: b.as, use: use, refuse: refuse}
		switch b.as {
		case rootOnly:
			tr.file = fmt.Sprintf("%s/trial%d.go", b.folder, n)
		case tests:
			tr.file = fmt.Sprintf("%s/trial%d/trial_test.go", b.folder, n)
		default:
			tr.file = fmt.Sprintf("%s/trial%d/trial.go", b.folder, n)
		}
		all = append(all, tr)
	}
	for _, b := range table {
		for _, use := range b.may {
			add(b, use, false)
		}
		for _, use := range b.mayNot {
			add(b, use, true)
		}
	}
	return all
}

// writeModule writes the trials, the real rules, and an empty package for every import: third-party
// packages into vendor, so that nothing is downloaded.
func writeModule(t *testing.T, root string, trials []trial) {
	t.Helper()
	rules, err := os.ReadFile(filepath.Join("..", "..", ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".golangci.yml", string(rules))

	vendored := map[string][]string{} // by the first element of the path, which serves as the module
	seen := map[string]bool{}
	for _, tr := range trials {
		write(t, root, tr.file, source(tr))
		if isCall(tr.use) || seen[tr.use] {
			continue
		}
		seen[tr.use] = true
		first, _, _ := strings.Cut(tr.use, "/")
		switch {
		case first == ".":
			write(t, root, tr.use+"/stub.go", "package "+packageName(tr.use)+"\n")
		case strings.Contains(first, "."):
			write(t, root, "vendor/"+tr.use+"/stub.go", "package "+packageName(tr.use)+"\n")
			vendored[first] = append(vendored[first], tr.use)
		}
	}
	gomod := "module " + module + "\n\ngo 1.26.0\n"
	var list strings.Builder
	for _, mod := range slices.Sorted(maps.Keys(vendored)) {
		gomod += "\nrequire " + mod + " v0.0.0\n"
		fmt.Fprintf(&list, "# %s v0.0.0\n## explicit; go 1.26.0\n%s\n", mod, strings.Join(vendored[mod], "\n"))
	}
	write(t, root, "go.mod", gomod)
	write(t, root, "vendor/modules.txt", list.String())
}

// source returns the text of a trial's file.
func source(tr trial) string {
	pkg := packageName(path.Dir(tr.file))
	if !isCall(tr.use) {
		return fmt.Sprintf("package %s\n\nimport _ %q\n", pkg, importPath(tr.use))
	}
	imports := map[string]string{"exec": "os/exec", "fmt": "fmt", "os": "os", "time": "time"}
	text := "package " + pkg + "\n"
	if qualifier, _, found := strings.Cut(tr.use, "."); found && imports[qualifier] != "" {
		text += fmt.Sprintf("\nimport %q\n", imports[qualifier])
	}
	if tr.use == "time.Duration(1)" {
		return text + "\nvar _ = " + tr.use + "\n"
	}
	return text + "\nfunc trial() {\n\t" + tr.use + "\n}\n"
}

func isCall(use string) bool { return strings.HasSuffix(use, ")") }

func importPath(use string) string {
	if own, found := strings.CutPrefix(use, "./"); found {
		return module + "/" + own
	}
	return use
}

// packageName returns a Go name for a folder's last element.
func packageName(folder string) string {
	return strings.NewReplacer("-", "", ".", "").Replace(path.Base(folder))
}

func write(t *testing.T, root, file, text string) {
	t.Helper()
	file = filepath.Join(root, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

type issue struct {
	FromLinter string
	Text       string
	Pos        struct{ Filename string }
}

// lint runs the rules of the layers over the module and returns the issues of each file.
func lint(t *testing.T, linter, root string) map[string][]issue {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), linter, "run", "--enable-only", "depguard,forbidigo", "--issues-exit-code", "0",
		"--show-stats=false", "--output.json.path", "stdout", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=vendor -buildvcs=false", "GOWORK=off")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the linter did not run: %v\n%s%s", err, out, complaints.Bytes())
	}
	// The linter only logs a rule that does not compile, and runs without it.
	if complaints.Len() > 0 {
		t.Fatalf("the linter complains:\n%s", complaints.Bytes())
	}
	var report struct{ Issues []issue }
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("the linter's report: %v\n%s", err, out)
	}
	found := map[string][]issue{}
	for _, i := range report.Issues {
		if i.FromLinter == "typecheck" {
			t.Fatalf("%s does not compile, so nothing is proven: %s", i.Pos.Filename, i.Text)
		}
		file := filepath.ToSlash(i.Pos.Filename)
		found[file] = append(found[file], i)
	}
	return found
}
