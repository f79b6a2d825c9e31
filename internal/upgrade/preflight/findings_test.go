package preflight

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

var update = flag.Bool("update", false, "update the golden files")

const golden = "testdata/findings.txt"

// input builds the cluster of the situation and the path to its target. The target's ClusterRelease
// is the first one.
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

// pathOf returns the path to a version, empty if there is none.
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
	versions, kubelets := []string{s.Version}, []string{}
	for _, server := range s.APIServers {
		versions = append(versions, server.Version)
	}
	for _, n := range s.Workers() {
		kubelets = append(kubelets, n.Kubelet)
	}
	from := oldest(versions)
	if from.IsZero() {
		return skew.Path{To: target}
	}
	// An unsupported path is a situation, too.
	path, _ := skew.PathBetween(from, target, oldest(kubelets), skew.Scope{
		ControlPlane: scope != refitv1alpha1.ScopeWorkers, Workers: scope != refitv1alpha1.ScopeControlPlane,
	})
	return path
}

// found returns the findings of the situation's check.
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
			narrative := c.narrative(found)
			text.WriteString(narrative)
			if len(found) == 0 {
				if c.want != none {
					t.Errorf("nothing found, want %s", c.want)
				}
				return
			}
			if f := found[0]; f.Severity != c.want || f.Unknown != c.unknown || f.Deferred != c.deferred {
				t.Errorf("got %s, unknown %t, deferred %t; want %s, %t, %t\n%s", f.Severity, f.Unknown, f.Deferred, c.want, c.unknown, c.deferred, narrative)
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
	compareGolden(t, text.String(), string(want))
}

// commands are how the commands of remedies start.
var commands = regexp.MustCompile(`\b(kubectl (-|[a-z])|kubeadm (init|join|upgrade|config|certs) |systemctl |journalctl |crictl |etcdctl |helm (-n|uninstall)|apt-mark |apt-get ` +
	`|dpkg |findmnt |du --|stat -|ls /|timedatectl |curl -|refit [a-z])`)

var quoted = regexp.MustCompile("`[^`]*`")

// A command in backticks can be told from the sentence around it, and copied.
func TestRemediesQuoteTheirCommands(t *testing.T) {
	for _, c := range situations() {
		for _, f := range c.found(t) {
			if bare := commands.FindString(quoted.ReplaceAllString(f.Remedy, "")); bare != "" || strings.Count(f.Remedy, "`")%2 == 1 {
				t.Errorf("%s/%s: %q is not in backticks: %s", c.check, c.name, bare, f.Remedy)
			}
		}
	}
}

// narrative renders findings as an operator reads them.
func (c *situation) narrative(found []Finding) string {
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

func compareGolden(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	known := strings.Split(want, "\n\n")
	for narrative := range strings.SplitSeq(got, "\n\n") {
		if !slices.Contains(known, narrative) {
			t.Errorf("not in %s (run go test -update):\n%s", golden, narrative)
		}
	}
	if !t.Failed() {
		t.Errorf("%s has stale entries or another order (run go test -update)", golden)
	}
}

// Every check needs a situation in which it finds something, and one in which it does not.
func TestEveryCheckHasItsSituations(t *testing.T) {
	problem, healthy := map[string]bool{}, map[string]bool{}
	for _, c := range situations() {
		if find(c.check).ID == "" {
			t.Errorf("check %s does not exist", c.check)
		}
		if c.want == none {
			healthy[c.check] = true
		} else {
			problem[c.check] = true
		}
	}
	for _, check := range Checks() {
		if !problem[check.ID] {
			t.Errorf("no situation in which %s finds something", check.ID)
		}
		if !healthy[check.ID] {
			t.Errorf("no situation in which %s finds nothing", check.ID)
		}
	}
}

func TestEveryFindingHasMessageAndRemedy(t *testing.T) {
	for _, c := range situations() {
		for _, f := range Run(c.input(t)).Findings {
			switch {
			case f.Message == "" || f.Remedy == "":
				t.Errorf("%s/%s: %s has no message or remedy", c.check, c.name, f.Check)
			case strings.ToUpper(f.Remedy[:1]) != f.Remedy[:1]:
				t.Errorf("%s/%s: the remedy of %s is not a sentence: %s", c.check, c.name, f.Check, f.Remedy)
			case strings.Contains(f.Remedy, "spec.nodeSelector") || strings.Contains(strings.ToLower(f.Remedy), "exclude the node"):
				t.Errorf("%s/%s: the remedy of %s does not name a command that leaves the node out: %s", c.check, c.name, f.Check, f.Remedy)
			case find(f.Check).ID == "":
				t.Errorf("%s/%s: check %s does not exist", c.check, c.name, f.Check)
			case rank(f.Severity) < rank(find(f.Check).Severity) && f.Check != "LocalDataLost":
				t.Errorf("%s/%s: severity of %s is %s, but the list allows at most %s", c.check, c.name, f.Check, f.Severity, find(f.Check).Severity)
			}
		}
	}
}

func rank(s Severity) int { return slices.Index([]Severity{Block, Warn, Info}, s) }

func TestChecksAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, check := range Checks() {
		if seen[check.ID] {
			t.Errorf("%s is listed twice", check.ID)
		}
		seen[check.ID] = true
		if check.Description == "" || check.find == nil || rank(check.Severity) < 0 {
			t.Errorf("%s is incomplete", check.ID)
		}
	}
}

func TestUnreadObjectNamesThePermission(t *testing.T) {
	for kind, want := range map[cluster.GapKind]string{cluster.GapForbidden: "Grant the permission", cluster.GapFailed: "Inspect the object"} {
		c := situation{change: func(s *cluster.Snapshot) {
			s.Gaps = append(s.Gaps, cluster.Gap{Part: cluster.PartHelm, Object: "releases in ConfigMaps", Kind: kind, Message: "no permission"})
		}}
		report := Run(c.input(t))
		at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Object == "releases in ConfigMaps" })
		if at < 0 || !strings.HasPrefix(report.Findings[at].Remedy, want) {
			t.Errorf("%s: got %+v", kind, report.Findings)
		}
	}
}

func TestUnreadPartLeavesItsChecksUnanswered(t *testing.T) {
	for _, check := range Checks() {
		for _, part := range check.Needs {
			t.Run(fmt.Sprintf("%s/%s", check.ID, part), func(t *testing.T) {
				c := situation{check: check.ID, change: clustertest.Unread(part, cluster.GapForbidden)}
				report := Run(c.input(t))
				at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Check == "PartUnreadable" && f.Object == string(part) })
				if at < 0 {
					t.Fatal("the unread part is not reported")
				}
				f := report.Findings[at]
				if !f.Unknown || !strings.Contains(f.Message, check.ID) {
					t.Errorf("got %+v", f)
				}
				if check.Safety() && f.Severity != Block {
					t.Errorf("severity is %s, but a safety check needs the part", f.Severity)
				}
			})
		}
	}
}
