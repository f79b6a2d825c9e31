package skew

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Version is a released version of Kubernetes, such as v1.36.3.
type Version struct{ Major, Minor, Patch int }

// Parse parses v1.36.3 or 1.36.3. It ignores pre-release and build: v1.36.3-rc.1+x is v1.36.3.
func Parse(s string) (Version, error) {
	if v, ok := parsePlain(s); ok {
		return v, nil
	}
	v, err := version.ParseSemantic(s)
	if err != nil || strings.TrimSpace(s) != s {
		return Version{}, fmt.Errorf("invalid version %q: it must be like v1.36.3", s)
	}
	return Version{Major: int(v.Major()), Minor: int(v.Minor()), Patch: int(v.Patch())}, nil
}

// parsePlain is the fast path for plain versions: thousands of nodes have one.
func parsePlain(s string) (v Version, ok bool) {
	parts := []*int{&v.Major, &v.Minor, &v.Patch}
	rest, more := strings.TrimPrefix(s, "v"), true
	for _, part := range parts {
		var text string
		if text, rest, more = strings.Cut(rest, "."); text == "" || len(text) > 6 || (text[0] == '0' && text != "0") {
			return Version{}, false
		}
		for _, c := range []byte(text) {
			if c < '0' || c > '9' {
				return Version{}, false
			}
			*part = *part*10 + int(c-'0')
		}
	}
	return v, !more
}

// String returns v1.36.3, empty for the zero value.
func (v Version) String() string {
	if v.IsZero() {
		return ""
	}
	return fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// MinorString returns 1.36, the name of the minor version in tables and documents.
func (v Version) MinorString() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// IsZero reports whether the version is unknown.
func (v Version) IsZero() bool { return v == Version{} }

// Compare is negative if v is older than w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// Before reports whether v is older than w.
func (v Version) Before(w Version) bool { return v.Compare(w) < 0 }

// SameMinor reports whether v and w differ in their patch version only.
func (v Version) SameMinor(w Version) bool { return v.Major == w.Major && v.Minor == w.Minor }

// MinorsBehind is how many minor versions v is older than w; negative if it is newer.
func (v Version) MinorsBehind(w Version) int { return (w.Major-v.Major)*100 + w.Minor - v.Minor }

// Max returns the newer of the two.
func Max(v, w Version) Version {
	if v.Before(w) {
		return w
	}
	return v
}

// Min returns the older of the two.
func Min(v, w Version) Version {
	if w.Before(v) {
		return w
	}
	return v
}
