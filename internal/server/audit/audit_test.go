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

// A crash between the rename of a full log and the first line of the next one must not begin
// another chain: lines that are removed there would not show.
func TestTheChainContinuesInAnotherFile(t *testing.T) {
	for situation, exists := range map[string]bool{"before the file exists": false, "before its first line": true} {
		t.Run(situation, func(t *testing.T) {
			directory := t.TempDir()
			write(t, open(t, directory), "pause", "resume")
			path := filepath.Join(directory, "audit.jsonl")
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			if exists {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l := open(t, directory)
			write(t, l, "abort")
			if entries, broken := last(t, l); broken != nil || len(entries) != 1 || entries[0].Sequence != 3 || entries[0].Previous == "" {
				t.Errorf("%+v, %v", entries, broken)
			}
		})
	}
}

// A full log is continued even if the rotation failed once, as without file descriptors.
func TestAFailedRotationIsRepeated(t *testing.T) {
	directory := t.TempDir()
	l := open(t, directory)
	write(t, l, "pause")
	path := filepath.Join(directory, "audit.jsonl")
	if err := os.Rename(path, path+".1"); err != nil { // what a failed rotation leaves
		t.Fatal(err)
	}
	if err := l.Rotate(); err != nil {
		t.Fatal(err)
	}
	write(t, l, "abort")
	if entries, broken := last(t, open(t, directory)); broken != nil || len(entries) != 1 || entries[0].Sequence != 2 {
		t.Errorf("%+v, %v", entries, broken)
	}
}

// What callers choose must neither prevent an entry nor break the chain.
func TestAnyTextCanBeLogged(t *testing.T) {
	for situation, text := range map[string]string{
		"long": strings.Repeat("x", 1<<20), "control characters": strings.Repeat("\x00", 20<<10), "not UTF-8": "\xff\xfe", "cut in a character": strings.Repeat("ä", 1<<10)[1:],
		"a line": "a\n{}",
	} {
		t.Run(situation, func(t *testing.T) {
			directory := t.TempDir()
			if err := open(t, directory).Write(audit.Entry{User: text, Action: "pause", Object: text, Detail: text}); err != nil {
				t.Fatal(err)
			}
			if entries, broken := last(t, open(t, directory)); broken != nil || len(entries) != 1 {
				t.Errorf("%d entries, %v", len(entries), broken)
			}
		})
	}
}
