package component

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestShortVersions(t *testing.T) {
	long := strings.Repeat("a", 80)
	for text, want := range map[string]string{
		"1.0.0":                           "1.0.0",
		"1.0.0-rc.1+build":                "1.0.0-rc.1+build",
		"1.0.0-rc.1+" + long:              "1.0.0-rc.1",
		"v1.0.0-" + long:                  "v1.0.0-" + long[:57],
		"1.0.0-" + long[:57] + ".12.rest": "1.0.0-" + long[:57],
	} {
		got := ShortVersion(text)
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if err := ValidateVersion(got); err != nil || len(got) > 64 {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// TestAnInstalledVersionThatCannotBeCompared: somebody else's chart must not keep all components
// from being planned.
func TestAnInstalledVersionThatCannotBeCompared(t *testing.T) {
	release := Release{Kubernetes: "v1.36.3", Components: []refitv1alpha1.ReleaseComponent{offerOf("odd", "2.0.0"), offerOf("plain", "2.0.0")}}
	installed := []Installed{{Name: "odd", Version: "1.0.0.0-x"}, {Name: "plain", Version: "1.0.0"}}
	placed, noPaths, err := Place("v1.35.4", []Release{release}, installed, nil)
	if err != nil || len(placed) != 1 || placed[0].Component != "plain" {
		t.Errorf("placed %+v, %v", placed, err)
	}
	if len(noPaths) != 1 || noPaths[0].Component != "odd" || !strings.Contains(noPaths[0].Message, "cannot be compared") {
		t.Errorf("no paths: %+v", noPaths)
	}
	wanted, noPath, err := WantedOf("odd", "v1.35.4", release, installed, nil)
	if err != nil || len(wanted) > 0 || noPath == nil {
		t.Errorf("wanted %+v, %+v, %v", wanted, noPath, err)
	}
}
