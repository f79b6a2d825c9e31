package orders

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// HighestEpoch returns the highest epoch of a known one and those that hosts report to have
// accepted. It ignores an epoch that is too far above the others: each leader raises the epoch by
// one, and a compromised host must not exhaust it.
func HighestEpoch(known int64, accepted []int64) int64 {
	highest := known
	for _, epoch := range slices.Sorted(slices.Values(accepted)) {
		if epoch > highest && epoch-highest <= refitv1alpha1.MaxEpochJump {
			highest = epoch
		}
	}
	return highest
}
