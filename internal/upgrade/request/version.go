package request

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

var minorVersion = regexp.MustCompile(`^v?(1\.(0|[1-9][0-9]{0,3}))$`)

// ParseMinor parses a minor version such as v1.36 and returns 1.36.
func ParseMinor(s string) (minor string, ok bool) {
	match := minorVersion.FindStringSubmatch(s)
	if match == nil {
		return "", false
	}
	return match[1], true
}

// ParseVersion parses the version of a target. Only released versions are accepted: the plan has
// the version that the user typed, never a similar one.
func ParseVersion(s string) (string, error) {
	version, err := skew.Parse(s)
	if err != nil {
		return "", err
	}
	if version.Major != 1 {
		return "", fmt.Errorf("%q is not a version of Kubernetes 1", s)
	}
	if version.String() != "v"+strings.TrimPrefix(s, "v") {
		return "", fmt.Errorf("%q is a pre-release or a build: Refit upgrades to releases such as %s", s, version)
	}
	return version.String(), nil
}
