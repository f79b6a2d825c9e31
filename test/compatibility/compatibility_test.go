package compatibility_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/test/compatibility"
)

const (
	root = "../.."
	page = root + "/docs/compatibility.md"
)

var update = flag.Bool("update", false, "write docs/compatibility.md")

func TestThePageIsUpToDate(t *testing.T) {
	targets := targetsOf(t)
	got := compatibility.Page(func(test string) string { return targetOf(targets, test) })
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(page); err != nil || string(want) != got {
		t.Errorf("docs/compatibility.md is out of date: run `make docs` (%v)", err)
	}
}

// A status must be backed by something that exists.
func TestEachRowHasItsEvidence(t *testing.T) {
	targets, sources, reasons := targetsOf(t), sourcesOf(t), reasonsOf(t)
	for _, section := range compatibility.Table {
		for _, row := range section.Rows {
			for _, problem := range problemsOf(&row, targets, sources, reasons) {
				t.Errorf("%s: %s: %s", section.Title, row.Kind, problem)
			}
		}
	}
}

func TestRowsWithoutEvidenceAreFound(t *testing.T) {
	targets, sources, reasons := targetsOf(t), sourcesOf(t), reasonsOf(t)
	for problem, row := range map[string]compatibility.Row{
		"is tested by nothing":                          {Status: compatibility.Tested},
		"is refused by nothing":                         {Status: compatibility.Refused, Note: "can be waived"},
		"there is no test TestNothing":                  {Status: compatibility.Tested, Tests: []string{"TestNothing"}},
		"TestUpgradeKinds has no subtest vip":           {Status: compatibility.Tested, Tests: []string{"TestUpgradeKinds/vip"}},
		"there is no check Nothing":                     {Status: compatibility.Refused, Checks: []string{"Nothing"}},
		"the check SwapOn does not block":               {Status: compatibility.Refused, Checks: []string{"SwapOn"}},
		"the check RuntimeUnsupported cannot be waived": {Status: compatibility.Refused, Note: "can be waived", Checks: []string{"RuntimeUnsupported"}},
		"there is no reason Nothing":                    {Status: compatibility.Refused, Reasons: []string{"Nothing"}},
		"has no status":                                 {},
	} {
		if got := problemsOf(&row, targets, sources, reasons); !slices.Contains(got, problem) {
			t.Errorf("got %q, want %q", got, problem)
		}
	}
}

func problemsOf(r *compatibility.Row, targets map[string]*regexp.Regexp, sources map[string]string, reasons string) (out []string) {
	switch r.Status {
	case compatibility.Tested:
		if len(r.Tests) == 0 && !strings.Contains(r.Evidence, "`make ") {
			out = append(out, "is tested by nothing")
		}
	case compatibility.Refused:
		if len(r.Checks) == 0 && len(r.Reasons) == 0 && !strings.Contains(r.Evidence, "exits with") {
			out = append(out, "is refused by nothing")
		}
	case compatibility.Expected, compatibility.Skipped:
	default:
		out = append(out, "has no status")
	}
	for _, test := range r.Tests {
		out = append(out, problemOfTest(test, targets, sources)...)
	}
	for _, check := range r.Checks {
		out = append(out, problemOfCheck(r, check)...)
	}
	for _, reason := range r.Reasons {
		if !strings.Contains(reasons, "| `"+reason+"` |") {
			out = append(out, "there is no reason "+reason)
		}
	}
	return out
}

func problemOfTest(test string, targets map[string]*regexp.Regexp, sources map[string]string) []string {
	name, sub, _ := strings.Cut(test, "/")
	source, ok := sources[name]
	switch {
	case !ok:
		return []string{"there is no test " + name}
	case sub != "" && !strings.Contains(source, fmt.Sprintf("%q", sub)):
		return []string{name + " has no subtest " + sub}
	case targetOf(targets, test) == "":
		return []string{"no target runs " + name}
	}
	return nil
}

func problemOfCheck(r *compatibility.Row, id string) []string {
	all := preflight.Checks()
	at := slices.IndexFunc(all, func(c preflight.Check) bool { return c.ID == id })
	switch {
	case at < 0:
		return []string{"there is no check " + id}
	case r.Status == compatibility.Refused && all[at].Severity != preflight.Block:
		return []string{"the check " + id + " does not block"}
	case r.Status == compatibility.Refused && strings.Contains(r.Note, "can be waived") && all[at].Binding():
		return []string{"the check " + id + " cannot be waived"}
	}
	return nil
}

// sourcesOf returns the source of each end-to-end test, by the function's name. Subtests are in the
// same file.
func sourcesOf(t *testing.T) map[string]string {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(root, "test", "e2e"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range function.FindAllStringSubmatch(string(text), -1) {
			out[found[1]] = string(text)
		}
		return err
	})
	if err != nil || len(out) < 20 {
		t.Fatalf("found %d tests: %v", len(out), err)
	}
	return out
}

// targetsOf returns the patterns of the end-to-end targets in the Makefile, by target.
func targetsOf(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	patterns := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^(E2E_\w+_RUN) \?= (.+)$`).FindAllStringSubmatch(string(text), -1) {
		patterns[found[1]] = strings.ReplaceAll(found[2], "$$", "$")
	}
	out := map[string]*regexp.Regexp{}
	rule := regexp.MustCompile(`(?m)^(e2e-[\w-]+):[^\n]*##[^\n]*\n(?:\t[^\n]*\n)*?\t\$\(call e2e,\$\((E2E_\w+)\)`)
	for _, found := range rule.FindAllStringSubmatch(string(text), -1) {
		out[found[1]] = regexp.MustCompile(patterns[found[2]])
	}
	if len(out) < 10 {
		t.Fatalf("found %d targets", len(out))
	}
	return out
}

// targetOf returns the target that runs a test. Those that every change must pass come first, then
// the longest pattern.
func targetOf(targets map[string]*regexp.Regexp, test string) string {
	name, _, _ := strings.Cut(test, "/")
	best := ""
	for target, pattern := range targets {
		if pattern.MatchString(name) && (best == "" || len(pattern.String()) > len(targets[best].String()) ||
			len(pattern.String()) == len(targets[best].String()) && target < best) {
			best = target
		}
	}
	return best
}

// reasonsOf returns the page with the reasons of agents and controllers.
func reasonsOf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
