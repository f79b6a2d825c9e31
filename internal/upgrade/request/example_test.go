package request

import "testing"

func TestExampleTarget(t *testing.T) {
	for from, want := range map[string]string{
		"v1.33.9":          "v1.34.4",
		"v1.35.1":          "v1.36.3",
		"v1.35.4+build.7":  "v1.36.3",
		"v1.37.0":          "v1.37.1", // Refit does not support the next minor version
		"v1.37.1":          "",
		"v1.38.0":          "",
		"":                 "v1.37.1",
		"not reported yet": "v1.37.1",
	} {
		if got := ExampleTarget(from); got != want {
			t.Errorf("ExampleTarget(%q) = %q, want %q", from, got, want)
		}
	}
}
