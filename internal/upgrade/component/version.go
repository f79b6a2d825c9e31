package component

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
