package request

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

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
