package helm

import (
	"strings"
	"testing"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		description string
		want        Mark
	}{
		{"refit/to-136/7", Mark{Operation: "to-136", Sequence: 7}},
		{"refit/to-136/7/wave-1", Mark{Operation: "to-136", Sequence: 7, Step: "wave-1"}},
		{"refit/to-136/7/wave-1: Upgrade \"a\" failed: b", Mark{Operation: "to-136", Sequence: 7, Step: "wave-1"}},
	} {
		if got, ours := parseMark(c.description); !ours || got != c.want {
			t.Errorf("parseMark(%q) = %v, %v", c.description, got, ours)
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
