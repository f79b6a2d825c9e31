package text_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/intstr"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The output of the commands. Read the golden files: they are the design.
func TestPages(t *testing.T) {
	for _, s := range situations() {
		widths := []int{100}
		if s.everyWidth {
			widths = []int{80, 100, 140}
		}
		for _, width := range widths {
			page := text.Page{Width: width}
			t.Run(fmt.Sprintf("check of %s at %d", s.name, width), func(t *testing.T) {
				golden(t, fmt.Sprintf("check-%s-%d", s.name, width), text.Check(s.report(t, false), page, s.next("check")), width)
			})
			t.Run(fmt.Sprintf("plan of %s at %d", s.name, width), func(t *testing.T) {
				golden(t, fmt.Sprintf("plan-%s-%d", s.name, width), text.Plan(s.report(t, true), page, s.next("plan")), width)
			})
		}
	}
}

func golden(t *testing.T, name, got string, width int) {
	t.Helper()
	for i, line := range strings.Split(got, "\n") {
		// Commands and hashes are meant to be copied, so they are never broken.
		if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(line, "    refit") && !strings.HasPrefix(line, "sha256:") {
			t.Errorf("line %d has %d columns: %q", i+1, n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line %d ends with spaces: %q", i+1, line)
		}
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page differs from %s (go test ./internal/cli/text -update writes it; read it, then run `make docs`):\n%s", path, got)
	}
}

// Five thousand nodes fit on a page, unless --wide is set.
func TestLargeClusterFitsAPage(t *testing.T) {
	large := find(t, "large")
	report := large.report(t, true)
	if lines := strings.Count(text.Plan(report, text.Page{}, large.next("plan")), "\n"); lines > 110 {
		t.Errorf("the page has %d lines", lines)
	}
	if lines := strings.Count(text.Plan(report, text.Page{Wide: true}, large.next("plan")), "\n"); lines < 5000 {
		t.Errorf("with all of it asked for, the page has %d lines", lines)
	}
}

// With --wide every finding is listed; without it the page has their number.
func TestWideListsEveryFinding(t *testing.T) {
	large := find(t, "large")
	report := large.report(t, false)
	wide := text.Check(report, text.Page{Wide: true}, large.next("check"))
	for i := range report.Findings {
		if f := &report.Findings[i]; !f.Deferred && !strings.Contains(wide, f.Object+"\n") {
			t.Fatalf("%s is missing", f.Object)
		}
	}
	if folded := text.Check(report, text.Page{}, large.next("check")); !strings.Contains(folded, "UnmanagedPod: 166 findings") || !strings.Contains(folded, "and 163 more") {
		t.Errorf("it does not count what it leaves out:\n%s", folded)
	}
}

// At most 256 nodes are active at once, whatever the pools allow.
func TestNoMoreNodesAtATimeThanMayBeActive(t *testing.T) {
	half := intstr.FromString("50%")
	s := situation{name: "half", snapshot: large, spec: to("v1.36.3")}
	s.spec.Pools = []refitv1alpha1.Pool{{Name: "storage", NodeSelector: refitv1alpha1.Labels{"pool": "storage"}, MaxUnavailable: &half}, {Name: "default", MaxUnavailable: &half}}
	page := text.Plan(s.make(t), text.Page{}, s.next("plan"))
	said := regexp.MustCompile(`([0-9,]+) at a time`).FindAllStringSubmatch(page, -1)
	for _, match := range said {
		if n, err := strconv.Atoi(strings.ReplaceAll(match[1], ",", "")); err != nil || n > refitv1alpha1.MaxActive {
			t.Errorf("it says %q", match[0])
		}
	}
	if !strings.Contains(page, "256 at a time") {
		t.Errorf("it does not say how many go at a time:\n%s", page)
	}
}

func TestColorsOnlyAddColors(t *testing.T) {
	codes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, s := range situations() {
		for name, page := range map[string]func(*cliv1alpha1.Report, text.Page, text.Next) string{"check": text.Check, "plan": text.Plan} {
			report := s.report(t, true)
			without := page(report, text.Page{}, s.next(name))
			with := page(report, text.Page{Color: true}, s.next(name))
			if strings.Contains(without, "\x1b") {
				t.Errorf("%s of %s has colors that nobody asked for", name, s.name)
			}
			if with == without {
				t.Errorf("%s of %s has no colors", name, s.name)
			}
			if codes.ReplaceAllString(with, "") != without {
				t.Errorf("%s of %s says something else in color", name, s.name)
			}
		}
	}
}

// A user who can name a pod, a label or a webhook cannot control an operator's terminal.
func TestNothingFromTheClusterReachesTheTerminal(t *testing.T) {
	const evil = "a\x1b[2J\x1b]0;owned\x07b\rc\u009b31md\u202egpj\x00\nBlock  Forged"
	report := find(t, "blocked").make(t)
	poison(report, evil)
	for _, wide := range []bool{false, true} {
		for _, out := range []string{
			text.Plan(report, text.Page{Wide: wide}, text.Next{Again: "refit plan"}), text.Check(report, text.Page{Wide: wide}, text.Next{Again: "refit check"}),
		} {
			if i := strings.IndexAny(out, "\x1b\x07\r\x00\u009b\u202e"); i >= 0 {
				t.Fatalf("a control character came through: %q", out[max(0, i-40):i+20])
			}
			if regexp.MustCompile(`(?m)^  Block  Forged`).MatchString(out) {
				t.Error("a message made itself look like a finding")
			}
		}
	}
}

func poison(r *cliv1alpha1.Report, evil string) {
	r.Cluster.Name, r.Cluster.Saved, r.Request.From, r.Plan.Hash = evil, evil, evil, evil
	r.Cluster.Gaps = append(r.Cluster.Gaps, cliv1alpha1.Gap{Part: evil, Object: evil, Kind: "Forbidden", Message: evil})
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Check, f.Object, f.Message, f.Remedy = evil, evil, evil, evil
		if f.Waived != nil {
			f.Waived.Reason = evil
		}
	}
	p := r.Plan
	for i := range p.Stages {
		p.Stages[i].Reason, p.Stages[i].Kubernetes = evil, evil
		for j := range p.Stages[i].Nodes {
			n := &p.Stages[i].Nodes[j]
			n.Name, n.Reason, n.Zone, n.Pool = evil, evil, evil, "default"
			n.Apart = []cliv1alpha1.Apart{{Node: evil, Reason: evil}}
		}
	}
	p.Notes = append(p.Notes, cliv1alpha1.Note{Decision: evil, Reason: evil})
	p.LeftOut = append(p.LeftOut, cliv1alpha1.LeftOut{Node: evil, Reason: evil})
}

// A quoted argument runs nothing else in a shell.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"v1.36.3":       "v1.36.3",
		"":              "''",
		"$(reboot)":     "'$(reboot)'",
		"it's":          `'it'\''s'`,
		"a b":           "'a b'",
		"x;y":           "'x;y'",
		"prod-admin@eu": "prod-admin@eu",
	} {
		if got := text.Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}
