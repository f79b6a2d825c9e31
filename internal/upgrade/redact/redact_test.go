package redact

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var patterns = []*regexp.Regexp{regexp.MustCompile(`ACME-\w+`), regexp.MustCompile(`site=(\w+)`)}

// around puts lines around a text, which may not be affected.
func around(text string) string { return "a line before\n" + text + "\na line after\n" }

func leaked(out string, p plant) bool {
	return slices.ContainsFunc(p.gone, func(secret string) bool { return strings.Contains(out, secret) })
}

func TestEverySecretIsRedacted(t *testing.T) {
	for situation, p := range plants {
		t.Run(situation, func(t *testing.T) {
			out, counts := New(patterns...).Text(around(p.text))
			if leaked(out, p) {
				t.Errorf("it remains in:\n%s", out)
			}
			if !strings.HasPrefix(out, "a line before\n") || !strings.HasSuffix(out, "\na line after\n") {
				t.Errorf("other lines are changed:\n%s", out)
			}
			if p.rule != "" && counts[p.rule] == 0 {
				t.Errorf("the counts are %v, want %s in them", counts, p.rule)
			}
		})
	}
}

// TestEveryRuleIsNeeded removes each rule: a plant of that rule must remain then. It proves that
// the plants would show a broken rule.
func TestEveryRuleIsNeeded(t *testing.T) {
	all := New(patterns...).rules
	for i := range all {
		name := all[i].name
		without := &Redactor{}
		for _, r := range all {
			switch r.name {
			case name:
				continue
			case "base64":
				r.find = wrapped(&Redactor{rules: slices.DeleteFunc(slices.Clone(rules), func(x rule) bool { return x.name == name || x.name == "base64" })})
			}
			without.rules = append(without.rules, r)
		}
		passes := 0
		for _, p := range plants {
			if out, _ := without.Text(around(p.text)); p.rule == name && leaked(out, p) {
				passes++
			}
		}
		if passes == 0 {
			t.Errorf("without the rule %s no planted secret remains: it is not tested", name)
		}
	}
}

func TestSplitReadsChangeNothing(t *testing.T) {
	var text strings.Builder
	for _, p := range plants {
		text.WriteString(around(p.text))
	}
	want, counts := New(patterns...).Text(text.String())
	for name, reader := range map[string]func(io.Reader) io.Reader{"one byte": iotest.OneByteReader, "half": iotest.HalfReader} {
		var got bytes.Buffer
		w := New(patterns...).NewWriter(&got)
		if _, err := io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{reader(strings.NewReader(text.String()))}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("%s at a time: the result differs", name)
		}
		for rule, n := range counts {
			if w.Counts()[rule] != n {
				t.Errorf("%s at a time: %s counts %d, want %d", name, rule, w.Counts()[rule], n)
			}
		}
	}
}

func TestRedactedTextIsNotRedactedAgain(t *testing.T) {
	for situation, p := range plants {
		once, _ := New(patterns...).Text(around(p.text))
		if twice, _ := New(patterns...).Text(once); leaked(twice, p) || !strings.HasPrefix(twice, "a line before\n") {
			t.Errorf("%s: %q became %q", situation, once, twice)
		}
	}
}

func TestOrdinaryTextIsKept(t *testing.T) {
	for _, text := range kept {
		if out, counts := New().Text(text); out != text {
			t.Errorf("%q became %q (%v)", text, out, counts)
		}
	}
}

func TestMarkersInATextHideNothing(t *testing.T) {
	if out, _ := New().Text("password=[redacted:named]" + canary); strings.Contains(out, canary) {
		t.Errorf("a forged marker protects the value: %s", out)
	}
	if out, _ := New().Text(`{"password":"[redacted:named]` + canary + `]"}`); strings.Contains(out, canary) {
		t.Errorf("a forged marker protects the value: %s", out)
	}
}

func TestTheEndOfATooLongLineIsDropped(t *testing.T) {
	text := strings.Repeat("x ", maxLine/2-3) + "password=" + canary + "\nnext\n"
	out, _ := New().Text(text)
	if strings.Contains(out, canary[:4]) || !strings.HasSuffix(out, cut+"\nnext\n") || len(out) > maxLine+100 {
		t.Errorf("the end is %q", out[max(0, len(out)-120):])
	}
}

func TestSecretsOfObjects(t *testing.T) {
	const object = `{
		"kind": "Pod",
		"metadata": {
			"name": "p",
			"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "C4naryApplied", "note": "password=C4naryNote"}
		},
		"spec": {"containers": [{
			"args": ["--token", "C4naryArg", "--certificate-key=C4naryFlag", "--v=5"],
			"env": [{"name": "DB_PASSWORD", "value": "C4naryEnv"}, {"name": "MODE", "value": "fast"},
				{"name": "API_TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
		}]},
		"items": [{"kind": "Secret", "data": {"x": "C4naryData"}}, {"stringData": {"x": "C4naryString"}}],
		"clientSecret": "C4naryField", "secretName": "kept", "replicas": 3
	}`
	var in map[string]any
	if err := json.Unmarshal([]byte(object), &in); err != nil {
		t.Fatal(err)
	}
	out, counts := New().Object(in)
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "C4nary") {
		t.Errorf("a secret remains: %s", text)
	}
	for _, want := range []string{`"fast"`, `"secretName":"kept"`, `"replicas":3`, `"secretKeyRef":{"key":"k","name":"s"}`, `"--v=5"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	for rule, want := range map[string]int64{ruleSecretData: 2, ruleLastApplied: 1, ruleEnv: 1} {
		if counts[rule] != want {
			t.Errorf("%s counts %d, want %d (%v)", rule, counts[rule], want, counts)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, p := range plants {
		f.Add(p.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, _ := New(patterns...).Text(text)
		if strings.Count(once, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q has other lines: %q", text, once)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := "I1119 08:00:00.000000    1234 kubelet.go:2345] \"SyncLoop (PLEG): event for pod\" pod=\"kube-system/etcd-cp-1\" event={\"ID\":\"f3b16037\",\"Type\":\"ContainerStarted\"}\n"
	text := strings.Repeat(line, 1<<20/len(line))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		New().Text(text)
	}
}
