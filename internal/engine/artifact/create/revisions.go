package create

import (
	"cmp"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// sameRelease reports whether a package has a version of upstream. 1.36.0~rc.1 is a pre-release of
// 1.36.0, which the same key has signed. Debian's packages of other parts have a ~ for other
// reasons.
func sameRelease(part refitv1alpha1.Part, version, want string) bool {
	return artifact.UpstreamVersion(version) == artifact.UpstreamVersion(want) &&
		(!node.IsKubernetes(part) || !preRelease(version))
}

func preRelease(version string) bool {
	if end := strings.LastIndex(version, "-"); end >= 0 {
		version = version[:end] // a ~ in the revision is one of the packager
	}
	return strings.ContainsAny(version, "~^")
}

// compareRevisions compares two versions of a package as dpkg does: the epoch first, then runs of
// other characters and of digits in turn, where ~ sorts before the end. For the revisions of
// upstream, rpm agrees.
func compareRevisions(a, b string) int {
	epochA, a := splitEpoch(a)
	epochB, b := splitEpoch(b)
	order := compareNumbers(epochA, epochB)
	for order == 0 && (a != "" || b != "") {
		var textA, textB, numberA, numberB string
		textA, a = cutWhile(a, false)
		textB, b = cutWhile(b, false)
		numberA, a = cutWhile(a, true)
		numberB, b = cutWhile(b, true)
		order = cmp.Or(compareTexts(textA, textB), compareNumbers(numberA, numberB))
	}
	return order
}

func splitEpoch(version string) (epoch, rest string) {
	if epoch, rest, has := strings.Cut(version, ":"); has {
		return epoch, rest
	}
	return "", version
}

// cutWhile cuts the digits, or all characters before the first digit.
func cutWhile(text string, digits bool) (before, after string) {
	end := strings.IndexFunc(text, func(r rune) bool { return (r >= '0' && r <= '9') != digits })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func compareTexts(a, b string) int {
	for i := range max(len(a), len(b)) {
		if order := cmp.Compare(rank(a, i), rank(b, i)); order != 0 {
			return order
		}
	}
	return 0
}

// rank is the order of a character: ~, the end of the text, letters, everything else.
func rank(text string, i int) int {
	switch {
	case i >= len(text):
		return 0
	case text[i] == '~':
		return -1
	case text[i] >= 'A' && text[i] <= 'Z' || text[i] >= 'a' && text[i] <= 'z':
		return int(text[i])
	}
	return int(text[i]) + 256
}
