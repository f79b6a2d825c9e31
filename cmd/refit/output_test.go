package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/terminal/terminaltest"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// Scripts rely on these documents: a field may be added, but none may change or be removed.
func TestDocuments(t *testing.T) {
	waived := warns
	waived.Waived = &refitv1alpha1.Waiver{Check: warns.Check, Object: warns.Object, Reason: "known"}
	asked := shop(func(s *cluster.Snapshot) {
		s.Gaps = []cluster.Gap{{Part: cluster.PartHelm, Kind: cluster.GapForbidden, Message: "you may not list secrets"}}
		s.Cost = cluster.Cost{Requests: 34, Bytes: 123456, Pods: 42, Took: 1234567890}
	})
	from := saved(t, asked)
	for name, args := range map[string][]string{
		"check.golden.json": {"check", "-o", "json"},
		"check.golden.yaml": {"check", "-o", "yaml"},
		"plan.golden.json":  {"plan", "-o", "json"},
		"plan.golden.yaml":  {"plan", "-o", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, blocks, waived, preflight.Finding{
				Check: "DiskTooSmall", Severity: preflight.Block, Unknown: true, Deferred: true, Message: "the disk space is unknown without an agent", Remedy: "Install the agents",
			})
			if code := l.run(t, append(args, "--to", "v1.36.3", "--from", from)...); code != exit.Blocked {
				t.Fatalf("exit code %d: %s", code, l.err)
			}
			golden(t, name, l.out.Bytes())
		})
	}
}

// A document contains every finding, except for a check with the same finding on thousands of
// nodes; with --wide it contains those as well.
func TestDocumentsHoldEveryFinding(t *testing.T) {
	var findings []preflight.Finding
	for i := range 2500 {
		findings = append(findings, preflight.Finding{Check: "SwapOn", Severity: preflight.Info, Object: fmt.Sprintf("Node worker-%d", i), Message: "it uses swap"})
	}
	findings = append(findings, warns)
	from := saved(t, shop())
	for _, c := range []struct {
		flags     []string
		told      int
		more      int
		lastOfAll string
	}{
		{nil, 1001, 1500, "Node worker-999"},
		{[]string{"--wide"}, 2501, 0, "Node worker-2499"},
	} {
		l := newLine(t, findings...)
		if code := l.run(t, append([]string{"check", "--to", "v1.36.3", "--from", from, "-o", "json"}, c.flags...)...); code != 0 {
			t.Fatalf("exit code %d: %s", code, l.err)
		}
		var document struct {
			Findings []struct {
				Object, Message string
				More            int
			}
		}
		if err := json.Unmarshal(l.out.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		if len(document.Findings) != c.told {
			t.Fatalf("%v: %d findings, want %d", c.flags, len(document.Findings), c.told)
		}
		if last := document.Findings[c.told-2]; last.More != c.more || last.Message != "it uses swap" || last.Object != c.lastOfAll {
			t.Errorf("%v: the last of many is %+v", c.flags, last)
		}
	}
}

func TestJSONAndYAMLAreEqual(t *testing.T) {
	from := saved(t, shop())
	var documents [2]any
	for i, form := range []string{"json", "yaml"} {
		l := newLine(t, warns)
		if code := l.run(t, "plan", "--to", "v1.36.3", "--from", from, "-o", form); code != 0 {
			t.Fatalf("exit code %d: %s", code, l.err)
		}
		if err := yaml.Unmarshal(l.out.Bytes(), &documents[i]); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := mustJSON(t, documents[0]), mustJSON(t, documents[1]); !bytes.Equal(a, b) {
		t.Errorf("JSON says %s, YAML %s", a, b)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Names from the cluster reach a terminal only as text, in every output format, and JSON preserves
// them.
func TestControlCharactersInEveryForm(t *testing.T) {
	const evil = "a\x1b[2Jb\u009b31mc\u202ede"
	from := saved(t, shop())
	for _, form := range []string{"text", "json", "yaml"} {
		l := newLine(t, preflight.Finding{Check: "X", Severity: preflight.Warn, Object: evil, Message: evil})
		if code := l.run(t, "plan", "--to", "v1.36.3", "--from", from, "-o", form); code != 0 {
			t.Fatalf("exit code %d: %s", code, l.err)
		}
		if strings.ContainsAny(l.out.String(), "\x1b\u009b\u202e") {
			t.Errorf("-o %s lets control characters through", form)
		}
		if form == "text" {
			continue
		}
		read := func(raw []byte, into any) error { return yaml.Unmarshal(raw, into) }
		if form == "json" {
			read = json.Unmarshal
		}
		var document struct{ Findings []struct{ Object string } }
		if err := read(l.out.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		if got := document.Findings[0].Object; got != evil {
			t.Errorf("-o %s says %q, want %q", form, got, evil)
		}
	}
}

func TestVersion(t *testing.T) {
	l := newLine(t)
	if code := l.run(t, "version", "-o", "json"); code != 0 {
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	var v struct {
		APIVersion, Kind, Version, Go string
		Kubernetes                    []string
	}
	if err := json.Unmarshal(l.out.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	if v.APIVersion != "cli.refit.dev/v1alpha1" || v.Kind != "Version" || v.Version == "" || v.Go == "" || len(v.Kubernetes) == 0 {
		t.Errorf("something is missing: %+v", v)
	}
	text := newLine(t)
	if code := text.run(t, "version"); code != 0 || !strings.Contains(text.out.String(), strings.Join(v.Kubernetes, ", ")) {
		t.Errorf("exit code %d, it says %q", code, text.out)
	}
}

// Colors are only for terminals, unless the user disables them.
func TestColors(t *testing.T) {
	from := saved(t, shop())
	for name, c := range map[string]struct {
		terminal bool
		env      map[string]string
		colors   bool
	}{
		"terminal":                 {true, nil, true},
		"terminal, NO_COLOR":       {true, map[string]string{"NO_COLOR": "1"}, false},
		"terminal that is dumb":    {true, map[string]string{"TERM": "dumb"}, false},
		"pipe":                     {false, nil, false},
		"pipe with a fine TERM":    {false, map[string]string{"TERM": "xterm-256color"}, false},
		"terminal, NO_COLOR empty": {true, map[string]string{"NO_COLOR": ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			read, write := pipe(t)
			if c.terminal {
				read, write = terminaltest.Open(t)
			}
			l := newLine(t)
			l.Out = write
			l.Getenv = func(name string) string { return c.env[name] }
			output := make(chan string)
			go func() {
				all, _ := io.ReadAll(read) // a terminal ends with an error
				output <- string(all)
			}()
			if code := l.run(t, "plan", "--to", "v1.36.3", "--from", from); code != 0 {
				t.Fatalf("exit code %d: %s", code, l.err)
			}
			write.Close()
			got := <-output
			if colors := strings.Contains(got, "\x1b["); colors != c.colors || got == "" {
				t.Errorf("colors: %v, want %v, in %q", colors, c.colors, got)
			}
		})
	}
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}
