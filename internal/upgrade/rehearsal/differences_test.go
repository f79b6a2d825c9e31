package rehearsal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

func TestEachDifferenceHasAReasonAndIsUnique(t *testing.T) {
	for name, table := range tables() {
		var seen []string
		for _, d := range table {
			if d.Reason == "" || strings.HasPrefix(d.Flag, "-") {
				t.Errorf("%s: incomplete row %+v", name, d)
			}
			if slices.Contains(seen, d.Flag) {
				t.Errorf("%s has --%s twice", name, d.Flag)
			}
			seen = append(seen, d.Flag)
		}
	}
}

// The design page has the complete lists, so that an operator knows what a rehearsal does not test.
func TestDifferencesAreDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/design/*-rehearsal.md")
	if err != nil || len(pages) != 1 {
		t.Fatalf("%v: the page is not unique: %v", err, pages)
	}
	text, err := os.ReadFile(pages[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range tables() {
		for _, d := range table {
			if row := row(d); !strings.Contains(string(text), row) {
				t.Errorf("%s of %s lacks the row\n%s", pages[0], name, row)
			}
		}
	}
}

func row(d rehearsal.Difference) string {
	value := "removed"
	if d.Value != "" {
		value = "`" + d.Value + "`"
	}
	return "| `--" + d.Flag + "` | " + value + " | " + d.Reason + " |"
}

func tables() map[string][]rehearsal.Difference {
	return map[string][]rehearsal.Difference{
		"kube-apiserver": append(slices.Clone(rehearsal.APIServerDifferences), rehearsal.WithoutWatchCache),
		"etcd":           rehearsal.EtcdDifferences,
	}
}
