package component

import (
	"fmt"
	"strings"
	"testing"
)

func object(apiVersion, kind, name string, more ...any) Object {
	o := Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	for i := 0; i < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

func lines(changes []Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s %s", c.Kind, c.Object))
		for _, f := range c.Fields {
			out = append(out, fmt.Sprintf("  %s: %v → %v", f.Path, f.From, f.To))
		}
	}
	return strings.Join(out, "\n")
}

func TestDiff(t *testing.T) {
	const crd = "apiextensions.k8s.io/v1"
	inNamespace := object("v1", "ConfigMap", "explicit")
	inNamespace["metadata"].(map[string]any)["namespace"] = "here"
	before := []Object{
		object("apps/v1beta1", "Deployment", "web", "spec", map[string]any{"replicas": 1, "args": []any{"a", "b"}, "ports": []any{1}}),
		object("v1", "Secret", "token", "data", map[string]any{"password": "old"}),
		object("v1", "ConfigMap", "gone"),
		inNamespace,
		object(crd, "CustomResourceDefinition", "things.example.com"),
		object("v1", "ConfigMap", "random", "data", map[string]any{"seed": "1", "a/b": "x"}),
	}
	after := []Object{
		object("apps/v1", "Deployment", "web", "spec", map[string]any{"replicas": 2, "args": []any{"a", "c"}, "ports": []any{1, 2}}),
		object("v1", "Secret", "token", "data", map[string]any{"password": "new"}),
		object("v1", "ConfigMap", "new"),
		object("v1", "ConfigMap", "explicit"),
		object("v1", "ConfigMap", "random", "data", map[string]any{"seed": "2", "a/b": "y"}),
	}
	// Two renderings of the new chart differ in the seed.
	again := []Object{object("v1", "ConfigMap", "random", "data", map[string]any{"seed": "3", "a/b": "y"})}
	mask := MaskOf(after[4:], again, "here")
	mask[RefOf(inNamespace, "here")] = map[string]bool{"/metadata/namespace": true}

	changes := Diff(before, after, "here", mask)
	want := `Delete ConfigMap gone
Create ConfigMap new
Change ConfigMap random
  /data/a~1b: x → y
Delete CustomResourceDefinition.apiextensions.k8s.io things.example.com
Change Deployment.apps web
  /apiVersion: apps/v1beta1 → apps/v1
  /spec/args/1: b → c
  /spec/ports: [1] → [1 2]
  /spec/replicas: 1 → 2
Change Secret token
  /data/password: (masked) → (masked)`
	if got := lines(changes); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if crds := DeletedCRDs(changes); len(crds) != 1 || crds[0].Name != "things.example.com" {
		t.Errorf("deleted CRDs: %v", crds)
	}
}

// TestRandomValuesInFieldsThatDifferAsAWhole: a digest with one of them would never be computed
// again.
func TestRandomValuesInFieldsThatDifferAsAWhole(t *testing.T) {
	annotated := func(random string) Object {
		return object("apps/v1", "Deployment", "web", "spec", map[string]any{"annotations": map[string]any{"checksum": random}})
	}
	hooks := func(random string, names ...string) Object {
		var list []any
		for _, name := range names {
			list = append(list, map[string]any{"name": name, "caBundle": random})
		}
		return object("v1", "Hook", "web", "webhooks", list)
	}
	listed := func(values ...any) Object { return object("v1", "ConfigMap", "web", "values", values) }
	for situation, c := range map[string]struct {
		before, after, again Object
		want                 string
	}{
		"a map is new": {
			object("apps/v1", "Deployment", "web", "spec", map[string]any{}), annotated("1"), annotated("2"),
			"/spec/annotations: <nil> → map[checksum:(masked)]",
		},
		"a map is removed": {
			annotated("0"), object("apps/v1", "Deployment", "web", "spec", map[string]any{}), object("apps/v1", "Deployment", "web", "spec", map[string]any{}),
			"/spec/annotations: map[checksum:0] → <nil>",
		},
		"a list becomes longer": {
			hooks("0", "a"), hooks("1", "a", "b"), hooks("2", "a", "b"),
			"/webhooks: [map[caBundle:(masked) name:a]] → [map[caBundle:(masked) name:a] map[caBundle:(masked) name:b]]",
		},
		"the length of a list is random": {listed("a"), listed("b"), listed("b", "c"), ""},
	} {
		mask := MaskOf([]Object{c.after}, []Object{c.again}, "")
		got := lines(Diff([]Object{c.before}, []Object{c.after}, "", mask))
		if _, field, _ := strings.Cut(got, "\n  "); field != c.want {
			t.Errorf("%s: %s", situation, got)
		}
		if other := lines(Diff([]Object{c.before}, []Object{c.again}, "", mask)); other != got {
			t.Errorf("%s: another rendering gives\n%s\nafter\n%s", situation, other, got)
		}
	}
}

func TestDigestOfWhatIsApproved(t *testing.T) {
	base := Approved{Action: Upgrade, Name: "a", From: "1.0.0", To: "2.0.0", Values: map[string]any{"x": 1, "y": 2}}
	first, err := base.Digest(nil)
	if err != nil {
		t.Fatal(err)
	}
	same := base
	same.Values = map[string]any{"y": 2, "x": 1}
	if got, _ := same.Digest(nil); got != first {
		t.Error("the order of values changes the digest")
	}
	for situation, change := range map[string]func(*Approved){
		"another deletion": func(a *Approved) { a.Deletes = []Ref{{Kind: "ConfigMap", Name: "x"}} },
		"another value":    func(a *Approved) { a.Values = map[string]any{"x": 1} },
		"another change":   func(a *Approved) { a.Changes = []Change{{Kind: Created, Object: Ref{Kind: "ConfigMap", Name: "x"}}} },
		"another CRD":      func(a *Approved) { a.CRDs = []string{"things.example.com: v2 is added"} },
		"another place":    func(a *Approved) { a.Schedule = "before v1.36.3" },
	} {
		other := base
		change(&other)
		if got, _ := other.Digest(nil); got == first {
			t.Errorf("%s does not change the digest", situation)
		}
	}
}
