package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is the part of a workflow of GitHub that the tests read.
type workflow struct {
	Permissions any
	Jobs        map[string]struct {
		TimeoutMinutes int `json:"timeout-minutes"`
		Steps          []struct{ Uses, Run string }
	}
}

var pinnedAction = regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)

func TestWorkflowsArePinnedAndBounded(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, found %d workflows", err, len(files))
	}
	for _, file := range files {
		w := readWorkflow(t, file)
		if w.Permissions == nil {
			t.Errorf("%s has no permissions at the top", file)
		}
		for name, job := range w.Jobs {
			if job.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s has no limit", file, name)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinnedAction.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned to a commit", file, step.Uses)
				}
			}
		}
	}
}

// The job without root runs the targets of `make ci` before those that need an API server or
// clusters, which `.ci/run` adds.
func TestTheWorkflowRunsTheTargetsOfCI(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^CI := (.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list of the targets")
	}
	want := slices.DeleteFunc(strings.Fields(string(list[1])), func(target string) bool {
		return target == "test-apiserver" || strings.HasPrefix(target, "e2e-")
	})
	var got []string
	w := readWorkflow(t, "../../.github/workflows/ci.yml")
	for _, step := range w.Jobs["checks"].Steps {
		if targets, is := strings.CutPrefix(step.Run, "make "); is {
			got = append(got, slices.DeleteFunc(strings.Fields(targets), func(word string) bool { return strings.Contains(word, "=") })...)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the workflow runs %q, want %q", got, want)
	}
	if e2e := w.Jobs["e2e"].Steps; len(e2e) == 0 || !strings.HasSuffix(e2e[len(e2e)-1].Run, ".ci/run") {
		t.Errorf("the job e2e does not run .ci/run: %+v", e2e)
	}
}

func readWorkflow(t *testing.T, file string) (out workflow) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return out
}
