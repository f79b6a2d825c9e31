package helm

import (
	"strings"
	"testing"
)

func TestMarks(t *testing.T) {
	for description, want := range map[string]Mark{
		"refit/to-136/7":        {Operation: "to-136", Sequence: 7},
		"refit/to-136/7/wave-1": {Operation: "to-136", Sequence: 7, Step: "wave-1"},
		"refit/to-136/7/wave-1: Upgrade \"a\" failed: b": {Operation: "to-136", Sequence: 7, Step: "wave-1"},
	} {
		if got, ours := parseMark(description); !ours || got != want {
			t.Errorf("parseMark(%q) = %v, %v", description, got, ours)
		}
	}
	for _, description := range []string{"", "Upgrade complete", "refit/a", "refit//1", "refit/a/b", "refit/a/1/b/c", "refits/a/1", "Rollback to 1"} {
		if got, ours := parseMark(description); ours {
			t.Errorf("parseMark(%q) = %v", description, got)
		}
	}
}

func TestMarksThatCannotBeRead(t *testing.T) {
	for _, mark := range []Mark{{}, {Operation: "a/b"}, {Operation: "a", Step: "b: c"}, {Operation: strings.Repeat("a", maxMark)}} {
		if mark.validate() == nil {
			t.Errorf("%q is valid", mark)
		}
	}
}

func TestTheReasonOfAFailureStaysInTheDescription(t *testing.T) {
	mark := Mark{Operation: "a", Sequence: 1}
	first := mark.describe("it failed")
	if first != "refit/a/1: it failed" {
		t.Errorf("describe() = %q", first)
	}
	if again := mark.describe(first); again != first {
		t.Errorf("describe() of a described failure = %q", again)
	}
}
