package keep

import (
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// unified returns the difference between two versions of a text as a unified diff, or an empty
// string.
func unified(name, before, after string) (string, error) {
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: slices.Collect(strings.Lines(before)), B: slices.Collect(strings.Lines(after)), FromFile: name, ToFile: name, Context: 3,
	})
}
