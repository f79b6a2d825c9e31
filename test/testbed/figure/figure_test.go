package figure

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestFprint(t *testing.T) {
	tests := map[string]struct {
		name  string
		value float64
		unit  string
		want  string
	}{
		"seconds":                       {"up_3_2_warm", 81.4, "s", "figure up_3_2_warm 81.4 s\n"},
		"noise of floats is rounded":    {"gap", 0.1 + 0.2, "s", "figure gap 0.3 s\n"},
		"a whole number has no dot":     {"nodes", 5000, "count", "figure nodes 5000 count\n"},
		"a large one has no exponent":   {"root_size", 425721856, "B", "figure root_size 425721856 B\n"},
		"a small one is kept":           {"failed_share", 0.0004, "%", "figure failed_share 0.0004 %\n"},
		"zero":                          {"gap", 0, "s", "figure gap 0 s\n"},
		"name starts with an uppercase": {"Up", 1, "s", ""},
		"name with a dash":              {"up-3", 1, "s", ""},
		"name with a space":             {"up 3", 1, "s", ""},
		"name with a line break":        {"up\nfigure", 1, "s", ""},
		"name ends in an underscore":    {"up_", 1, "s", ""},
		"no name":                       {"", 1, "s", ""},
		"no unit":                       {"up", 1, "", ""},
		"unit with a space":             {"up", 1, "s s", ""},
		"not a number":                  {"up", math.NaN(), "s", ""},
		"infinite":                      {"up", math.Inf(1), "s", ""},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			var out strings.Builder
			err := Fprint(&out, tt.name, tt.value, tt.unit)
			if out.String() != tt.want {
				t.Errorf("printed %q, want %q", out.String(), tt.want)
			}
			if (err != nil) != (tt.want == "") {
				t.Errorf("error is %v", err)
			}
		})
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestFprintReturnsWriteErrors(t *testing.T) {
	full := errors.New("no space left")
	if err := Fprint(brokenWriter{full}, "up", 1, "s"); !errors.Is(err, full) {
		t.Fatalf("error is %v, want it to wrap %v", err, full)
	}
}
