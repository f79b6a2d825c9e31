package component

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ValidateVersion reports a version that a range cannot contain.
func ValidateVersion(text string) error {
	_, err := parseVersion(text)
	return err
}

// maxVersion is the limit of the API. Only a chart of somebody else has a longer version.
const maxVersion = 64

// ShortVersion returns a version that fits the API and can still be compared: without its build
// metadata, and then without the end of its pre-release.
func ShortVersion(text string) string {
	if len(text) <= maxVersion {
		return text
	}
	text, _, _ = strings.Cut(text, "+")
	return strings.TrimRight(text[:min(len(text), maxVersion)], ".-")
}

// Older reports whether a version precedes another one. Both must be valid.
func Older(a, b string) bool {
	first, err := parseVersion(a)
	if err != nil {
		return false
	}
	second, err := parseVersion(b)
	return err == nil && first.LessThan(second)
}

// FitsKubernetes reports whether a version of a component runs on a version of Kubernetes.
func FitsKubernetes(c refitv1alpha1.ReleaseComponent, kubernetes string) (bool, error) {
	matrix, err := ParseMatrix(c.Fits)
	if err != nil {
		return false, err
	}
	its, err := parseVersion(c.Version)
	if err != nil {
		return false, err
	}
	on, err := parseVersion(kubernetes)
	if err != nil {
		return false, fmt.Errorf("kubernetes: %w", err)
	}
	return matrix.Fits(its, on), nil
}
