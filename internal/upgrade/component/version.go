package component

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ValidateVersion reports a version that a range cannot contain.
func ValidateVersion(text string) error {
	_, err := parseVersion(text)
	return err
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
