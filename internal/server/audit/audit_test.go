package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/audit"
)

func open(t *testing.T, directory string) *audit.Log {
	t.Helper()
	l, err := audit.Open(directory, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func write(t *testing.T, l *audit.Log, actions ...string) {
	t.Helper()
	for _, action := range actions {
		if err := l.Write(audit.Entry{User: "kim", Action: action, Result: "200"}); err != nil {
			t.Fatal(err)
		}
	}
}

func last(t *testing.T, l *audit.Log) ([]audit.Entry, error) {
	t.Helper()
	entries, broken, err := l.Last(10)
	if err != nil {
		t.Fatal(err)
	}
	return entries, broken
}

func TestTheChainContinuesAfterARestart(t *testing.T) {
	directory := t.TempDir()
	write(t, open(t, directory), "pause", "resume")
	l := open(t, directory)
	write(t, l, "abort")
	entries, broken := last(t, l)
	if broken != nil || len(entries) != 3 || entries[0].Action != "abort" || entries[0].Sequence != 3 || entries[0].Previous != entries[1].Hash {
		t.Errorf("%+v, %v", entries, broken)
	}
}

func TestALineThatACrashCutOffIsRemoved(t *testing.T) {
	directory := t.TempDir()
	write(t, open(t, directory), "pause", "resume")
	path := filepath.Join(directory, "audit.jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content[:len(content)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, directory)
	write(t, l, "abort")
	if entries, broken := last(t, l); broken != nil || len(entries) != 2 || entries[0].Sequence != 2 || entries[0].Action != "abort" {
		t.Errorf("%+v, %v", entries, broken)
	}
}

func TestAChangedLineBreaksTheChain(t *testing.T) {
	for situation, change := range map[string]func(string) string{
		"another user":   func(s string) string { return strings.Replace(s, `"user":"kim"`, `"user":"eve"`, 1) },
		"a removed line": func(s string) string { lines := strings.SplitAfter(s, "\n"); return lines[0] + lines[2] },
	} {
		t.Run(situation, func(t *testing.T) {
			directory := t.TempDir()
			write(t, open(t, directory), "pause", "resume", "abort")
			path := filepath.Join(directory, "audit.jsonl")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(change(string(content))), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, broken := last(t, open(t, directory)); broken == nil {
				t.Error("the chain is not broken")
			}
		})
	}
}
