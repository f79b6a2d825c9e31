package main

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// Flags override the manifest; fields without a flag keep its values.
func TestFlagsOverAManifest(t *testing.T) {
	l := newLine(t)
	manifest := file(t, "upgrade.yaml", `
apiVersion: refit.dev/v1alpha1
kind: ClusterUpgrade
metadata: {name: spring}
spec:
  target: {release: old}
  scope: All
  pools:
  - {name: gpu, nodeSelector: {gpu: "true"}, maxUnavailable: 2}
  - {name: default, maxUnavailable: 10%, canary: {nodes: 1, soak: 5m}}
  waivers: [{check: A, reason: b}]
`)
	code := l.run(t, "plan", "--from", saved(t, shop()), "-f", manifest, "--to", "1.36.3", "--scope", "Workers",
		"--node-selector", "zone=a", "--max-unavailable", "25%", "--waive", "DiskTooSmall/Node x=why not", "-o", "manifest")
	if code != 2 { // workers before their control plane
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	l = newLine(t, preflight.Finding{Check: "DiskTooSmall", Object: "Node x", Severity: preflight.Warn, Message: "x", Remedy: "y"})
	if code := l.run(t, "plan", "--from", saved(t, shop()), "-f", manifest, "--to", "1.36.3", "--scope", "ControlPlane",
		"--node-selector", "zone=a", "--max-unavailable", "25%", "--waive", "DiskTooSmall/Node x=why not", "-o", "manifest"); code != 0 {
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	golden(t, "manifest.golden.yaml", l.out.Bytes())

	var again refitv1alpha1.ClusterUpgrade
	if err := yaml.UnmarshalStrict(l.out.Bytes(), &again); err != nil {
		t.Errorf("what was printed cannot be applied: %v", err)
	}
}

func TestManifestsThatNoClusterCanFollow(t *testing.T) {
	from := saved(t, shop())
	for situation, c := range map[string]struct{ name, spec, says string }{
		"a name in capitals":           {"X_Y", "", "metadata.name"},
		"a selector that is none":      {"x", `nodeSelector: {"a b": c}`, "is not a label key"},
		"a canary of more than a pool": {"x", "pools: [{name: default, canary: {nodes: 9}}]", "the canary of pool default is 9 nodes, but the pool has only"},
	} {
		l := newLine(t)
		manifest := file(t, "upgrade.yaml", "apiVersion: refit.dev/v1alpha1\nkind: ClusterUpgrade\nmetadata: {name: "+c.name+"}\n"+
			"spec: {target: {kubernetes: v1.36.3}, "+c.spec+"}\n")
		if code := l.run(t, "plan", "--from", from, "-f", manifest); code != 2 || !strings.Contains(l.err.String(), c.says) {
			t.Errorf("%s: exit code %d: %s", situation, code, l.err)
		}
	}
}

// No waiver is suggested for a finding that cannot be waived, neither by check nor by object.
func TestNoWaiverIsOfferedForWhatCannotBeWaived(t *testing.T) {
	missing := preflight.Finding{
		Check: "ReleaseMissing", Severity: preflight.Block, Binding: true, Object: "ClusterRelease for v1.36.3", Message: "there is none", Remedy: "make one",
	}
	unread := preflight.Finding{
		Check: "PartUnreadable", Severity: preflight.Block, Binding: true, Unknown: true, Object: "pods", Message: "you may not list pods", Remedy: "ask",
	}
	from := saved(t, shop())
	for name, c := range map[string]struct {
		findings []preflight.Finding
		offers   string
	}{
		"nothing can be waived":   {[]preflight.Finding{missing, unread}, ""},
		"the last one can be":     {[]preflight.Finding{missing, unread, blocks}, "--waive 'BudgetNeverAllows/PodDisruptionBudget shop/cart=REASON'"},
		"only a warning could be": {[]preflight.Finding{missing, warns}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, c.findings...)
			l.run(t, "check", "--from", from, "--to", "v1.36.3")
			if got := l.out.String(); strings.Contains(got, "--waive") != (c.offers != "") || !strings.Contains(got, c.offers) {
				t.Errorf("want %q in\n%s", c.offers, got)
			}
			if !strings.Contains(l.out.String(), "(no waiver possible)") {
				t.Errorf("it does not say that there is no waiver:\n%s", l.out)
			}
		})
	}
}

// The suggested command repeats the same request.
func TestNextCommand(t *testing.T) {
	l := newLine(t, blocks, preflight.Finding{Check: "SwapOn", Object: "Node x", Severity: preflight.Info, Message: "x", Remedy: "y"})
	l.name = "kubectl refit"
	from := saved(t, shop())
	l.run(t, "check", "--from", from, "--to", "v1.36.3", "--waive", "SwapOn/Node x=it's fine", "--waive", "DiskTooSmall=$(reboot)", "--wide", "-o", "text")
	want := "    kubectl refit check --to v1.36.3 --waive 'SwapOn/Node x=it'\\''s fine' --waive 'DiskTooSmall=$(reboot)' --from " + from + "\n"
	if !strings.Contains(l.out.String(), want) {
		t.Errorf("want %q in\n%s", want, l.out)
	}
	if !strings.Contains(l.out.String(), "--waive 'BudgetNeverAllows/PodDisruptionBudget shop/cart=REASON'") {
		t.Errorf("it does not say how to set the finding aside:\n%s", l.out)
	}
}

// A plan for a saved Snapshot does not suggest an upgrade of the current context.
func TestNoUpgradeIsSuggestedForASavedSnapshot(t *testing.T) {
	l := newLine(t)
	if code := l.run(t, "plan", "--from", saved(t, shop()), "--to", "v1.36.3"); code != 0 || strings.Contains(l.out.String(), "refit upgrade") {
		t.Errorf("exit code %d:\n%s", code, l.out)
	}
}

// Only a command that has --wide suggests it.
func TestWideIsSuggestedWhereItExists(t *testing.T) {
	for command, want := range map[string]bool{"history": false, "status": true} {
		l := newLine(t)
		if code := l.run(t, command, "-o", "wide"); code != 2 || strings.Contains(l.err.String(), "--wide") != want {
			t.Errorf("%s: exit code %d: %s", command, code, l.err)
		}
	}
}
