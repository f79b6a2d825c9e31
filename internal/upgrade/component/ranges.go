package component

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Range is a set of versions: comparisons that must all hold. The zero Range contains every
// version.
type Range struct {
	comparisons []comparison
}

type comparison struct {
	operator string
	version  *version.Version
}

// The operators, longest first so that >= is not read as >.
var operators = []string{">=", "<=", "=", ">", "<"}

// ParseRange parses comparisons that are separated by spaces, such as ">=1.1 <1.3".
func ParseRange(text string) (Range, error) {
	var r Range
	for field := range strings.FieldsSeq(text) {
		c, err := parseComparison(field)
		if err != nil {
			return Range{}, fmt.Errorf("invalid range %q: %w", text, err)
		}
		r.comparisons = append(r.comparisons, c)
	}
	return r, nil
}

func parseComparison(text string) (comparison, error) {
	for _, operator := range operators {
		if rest, ok := strings.CutPrefix(text, operator); ok {
			v, err := parseVersion(rest)
			return comparison{operator, v}, err
		}
	}
	return comparison{}, fmt.Errorf("%q does not begin with one of %s", text, strings.Join(operators, ", "))
}

var versionText = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+){0,2})([-+].*)?$`)

// parseVersion parses a version of a component or of Kubernetes. Minor and patch version may be
// missing.
func parseVersion(text string) (*version.Version, error) {
	parts := versionText.FindStringSubmatch(text)
	if parts == nil {
		return nil, fmt.Errorf("invalid version %q", text)
	}
	numbers := parts[1] + strings.Repeat(".0", 2-strings.Count(parts[1], "."))
	v, err := version.ParseSemantic(numbers + parts[2])
	if err != nil {
		return nil, fmt.Errorf("invalid version %q: %w", text, err)
	}
	return v, nil
}

// Contains reports whether a version is in the range.
func (r Range) Contains(v *version.Version) bool {
	for _, c := range r.comparisons {
		if !c.holds(v) {
			return false
		}
	}
	return true
}

// holds compares the release of a version if the comparison is about a release: 1.3.0-rc.1 is not
// below 1.3, because it has what 1.3 has.
func (c comparison) holds(v *version.Version) bool {
	if c.version.PreRelease() == "" {
		v = version.MajorMinor(v.Major(), v.Minor()).WithPatch(v.Patch())
	}
	switch c.operator {
	case ">=":
		return v.AtLeast(c.version)
	case "<=":
		return c.version.AtLeast(v)
	case ">":
		return c.version.LessThan(v)
	case "<":
		return v.LessThan(c.version)
	}
	return !v.LessThan(c.version) && !c.version.LessThan(v)
}
