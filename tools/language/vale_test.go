//go:build prose

// Behind a tag, because it needs Vale, which takes minutes to build in a clean clone.
// `make lint-prose` builds it and sets REFIT_VALE.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// kinds has a file of each kind that Vale checks, with one text in it.
var kinds = map[string]func(text string) string{
	"page.md":     func(text string) string { return "# Title\n\nA line.\n\n" + text + ".\n" },
	"plan.golden": func(text string) string { return "Title\n\n  - " + text + "\n" },
	"finding.txt": func(text string) string { return text + "\n" },
	"help.go":     func(text string) string { return "package x\n\nvar long = `A line.\n" + text + ".`\n" },
}

func TestValeReportsThePhraseOfEachExample(t *testing.T) {
	var texts []string
	for _, p := range phrases(t).Phrases {
		texts = append(texts, p.Example)
	}
	for file, alerts := range vale(t, texts) {
		if len(alerts) != 1 {
			t.Errorf("%s: Vale reported %v, want one alert", file, alerts)
		}
	}
}

func TestValeAcceptsIdiomaticText(t *testing.T) {
	const text = "Refit drains the node, upgrades it and reports its status; a failed node is rolled back"
	for file, alerts := range vale(t, []string{text}) {
		if len(alerts) != 0 {
			t.Errorf("%s: Vale reported %v", file, alerts)
		}
	}
}

type alert struct{ Message string }

// vale checks each text in a file of each kind under the rules of this repository. It returns the
// alerts of every file, also of those without any, by the file's name and text.
func vale(t *testing.T, texts []string) map[string][]alert {
	t.Helper()
	binary := os.Getenv("REFIT_VALE")
	if binary == "" {
		t.Fatal("REFIT_VALE is not set: run `make lint-prose`")
	}
	dir := t.TempDir()
	checked := map[string]string{}
	for i, text := range texts {
		for name, content := range kinds {
			file := filepath.Join(dir, fmt.Sprintf("%d-%s", i, name))
			checked[file] = name + ": " + text
			if err := os.WriteFile(file, []byte(content(text)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), binary, "--no-global", "--config=../../.vale.ini", "--output=JSON", dir)
	out, failure := cmd.Output()
	var reported map[string][]alert
	if err := json.Unmarshal(out, &reported); err != nil {
		t.Fatalf("cannot parse Vale's output: %v\n%s", errors.Join(failure, err), out)
	}
	if (failure != nil) != (len(reported) > 0) {
		t.Errorf("Vale returned %v for files with alerts: %d", failure, len(reported))
	}
	alerts := map[string][]alert{}
	for file, description := range checked {
		alerts[description] = reported[file]
	}
	return alerts
}
