package preflight

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

var update = flag.Bool("update", false, "write the golden files anew")

const golden = "testdata/findings.txt"

// input builds the situation's cluster and the way to its target. The target's Release is the first one.
func (c *situation) input(tb testing.TB) Input {
	tb.Helper()
	from, to := orElse(c.from, "v1.35.4"), orElse(c.to, "v1.36.3")
	wanted := slices.DeleteFunc([]string{"v1.34.4", "v1.35.4", "v1.36.3", "v1.37.1"}, func(v string) bool { return v == to })
	changes := []change{clustertest.Released(append([]string{to}, wanted...)...)}
	if !c.bare {
		changes = append(changes, clustertest.Agents())
	}
	if c.change != nil {
		changes = append(changes, c.change)
	}
	in := Input{Spec: refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: to}}, Now: clustertest.Now}
	if c.spec != nil {
		c.spec(&in.Spec)
	}
	if c.single {
		in.Snapshot = clustertest.Single(from, changes...)
	} else {
		in.Snapshot = clustertest.HA(from, 3, 2, changes...)
	}
	in.Path = pathOf(tb, in.Snapshot, in.Spec.Scope, to)
	return in
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// pathOf is the way to a version, as far as there is one.
func pathOf(tb testing.TB, s *cluster.Snapshot, scope refitv1alpha1.Scope, to string) skew.Path {
	tb.Helper()
	target, err := skew.Parse(to)
	if err != nil {
		tb.Fatal(err)
	}
	oldest := func(versions []string) skew.Version {
		var out skew.Version
		for _, text := range versions {
			if v, err := skew.Parse(text); err == nil && (out.IsZero() || v.Before(out)) {
				out = v
			}
		}
		return out
	}
	said, kubelets := []string{s.Version}, []string{}
	for _, server := range s.APIServers {
		said = append(said, server.Version)
	}
	for _, n := range s.Workers() {
		kubelets = append(kubelets, n.Kubelet)
	}
	from := oldest(said)
	if from.IsZero() {
		return skew.Path{To: target}
	}
	// A way that does not exist is a situation too.
	path, _ := skew.PathBetween(from, target, oldest(kubelets), skew.Scope{
		ControlPlane: scope != refitv1alpha1.ScopeWorkers, Workers: scope != refitv1alpha1.ScopeControlPlane,
	})
	return path
}

// found are the findings of one check.
func (c *situation) found(tb testing.TB) []Finding {
	tb.Helper()
	report := Run(c.input(tb))
	return slices.DeleteFunc(report.Findings, func(f Finding) bool { return f.Check != c.check })
}

func TestFindings(t *testing.T) {
	var text strings.Builder
	for _, c := range situations() {
		t.Run(c.check+"/"+c.name, func(t *testing.T) {
			found := c.found(t)
			story := c.story(found)
			text.WriteString(story)
			if len(found) == 0 {
				if c.want != none {
					t.Errorf("nothing found, want %s", c.want)
				}
				return
			}
			if f := found[0]; f.Severity != c.want || f.Unknown != c.unknown || f.Deferred != c.deferred {
				t.Errorf("got %s, unknown %t, deferred %t; want %s, %t, %t\n%s", f.Severity, f.Unknown, f.Deferred, c.want, c.unknown, c.deferred, story)
			}
		})
	}
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	compareStories(t, text.String(), string(want))
}

// story is what an operator would read.
func (c *situation) story(found []Finding) string {
	text := fmt.Sprintf("%s: %s\n", c.check, c.name)
	if len(found) == 0 {
		return text + "    nothing\n\n"
	}
	for _, f := range found {
		text += "    " + string(f.Severity)
		for _, word := range []struct {
			is   bool
			word string
		}{{f.Unknown, "unknown"}, {f.Deferred, "deferred"}, {f.Waived != nil, "waived"}} {
			if word.is {
				text += ", " + word.word
			}
		}
		text += fmt.Sprintf(" [%s]\n        %s\n        > %s\n", f.Object, f.Message, f.Remedy)
	}
	return text + "\n"
}

func compareStories(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	known := strings.Split(want, "\n\n")
	for story := range strings.SplitSeq(got, "\n\n") {
		if !slices.Contains(known, story) {
			t.Errorf("this is not in %s (go test -update writes it anew):\n%s", golden, story)
		}
	}
	if !t.Failed() {
		t.Errorf("%s holds stories that nobody tells any more, or in another order (go test -update writes it anew)", golden)
	}
}

// A check without a situation in which it finds something, and one beside it in which it does not, is not tested.
func TestEveryCheckHasItsSituations(t *testing.T) {
	sick, healthy := map[string]bool{}, map[string]bool{}
	for _, c := range situations() {
		if find(c.check).ID == "" {
			t.Errorf("there is no check %s", c.check)
		}
		if c.want == none {
			healthy[c.check] = true
		} else {
			sick[c.check] = true
		}
	}
	for _, check := range Checks() {
		if !sick[check.ID] {
			t.Errorf("no situation in which %s finds something", check.ID)
		}
		if !healthy[check.ID] {
			t.Errorf("no situation in which %s finds nothing", check.ID)
		}
	}
}

func TestEveryFindingHelps(t *testing.T) {
	for _, c := range situations() {
		for _, f := range Run(c.input(t)).Findings {
			switch {
			case f.Message == "" || f.Remedy == "":
				t.Errorf("%s/%s: %s has no message or remedy", c.check, c.name, f.Check)
			case find(f.Check).ID == "":
				t.Errorf("%s/%s: there is no check %s", c.check, c.name, f.Check)
			case rank(f.Severity) < rank(find(f.Check).Severity) && f.Check != "LocalDataLost" && f.Check != "WaiverUnused":
				t.Errorf("%s/%s: %s found a %s, and the list says at most %s", c.check, c.name, f.Check, f.Severity, find(f.Check).Severity)
			}
		}
	}
}

func rank(s Severity) int { return slices.Index([]Severity{Block, Warn, Info}, s) }

func TestListIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, check := range Checks() {
		if seen[check.ID] {
			t.Errorf("%s is listed twice", check.ID)
		}
		seen[check.ID] = true
		if check.Says == "" || check.find == nil || rank(check.Severity) < 0 {
			t.Errorf("%s lacks something", check.ID)
		}
	}
}

// What cannot be read leaves every check that needs it without an answer, and is told once.
func TestPartThatCannotBeReadLeavesChecksUnanswered(t *testing.T) {
	for _, check := range Checks() {
		for _, part := range check.Needs {
			t.Run(fmt.Sprintf("%s/%s", check.ID, part), func(t *testing.T) {
				c := situation{check: check.ID, change: clustertest.Unread(part, cluster.GapForbidden)}
				report := Run(c.input(t))
				at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Check == "PartUnreadable" && f.Object == string(part) })
				if at < 0 {
					t.Fatal("nobody tells")
				}
				f := report.Findings[at]
				if !f.Unknown || !strings.Contains(f.Message, check.ID) {
					t.Errorf("got %+v", f)
				}
				if check.Safety() && f.Severity != Block {
					t.Errorf("severity is %s although safety depends on it", f.Severity)
				}
			})
		}
	}
}
