package policy

import (
	"slices"
	"testing"
)

func TestNamesAreComparedByTheirNumbers(t *testing.T) {
	sorted := []string{
		"", "1.36.3", "kubernetes", "kubernetes-v1.36.3", "kubernetes-v1.36.3-2", "kubernetes-v1.36.3-9", "kubernetes-v1.36.3-10", "kubernetes-v1.36.3-a",
		"kubernetes-v1.36.10", "kubernetes-v01.37.0", "kubernetes-v1.37.0", "kubernetes-v1.037.0-a", "site",
	}
	for i := range sorted {
		for j := range sorted {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := CompareNames(sorted[i], sorted[j]); got != want {
				t.Errorf("%q and %q compare as %d, want %d", sorted[i], sorted[j], got, want)
			}
		}
	}
	if !slices.IsSortedFunc(sorted, CompareNames) {
		t.Error("the list is not sorted")
	}
}
