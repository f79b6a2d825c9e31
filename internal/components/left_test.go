package components

import (
	"fmt"
	"slices"
	"testing"
)

// TestWhatARollbackLeftIsReportedBeforeWhatWasNotReady: the waves are undone before the CRDs.
func TestWhatARollbackLeftIsReportedBeforeWhatWasNotReady(t *testing.T) {
	const kept = "CRD queues.test stays at the new version: its old one refuses 2 objects and drops fields of 0"
	var left []string
	for n := range maxLeft + 1 {
		left = clipped(append(left, fmt.Sprintf("undo-wave-%d: Deployment shop/cart is not ready after 15m0s: InProgress", n)))
	}
	left = clipped(append(left, kept))
	left = clipped(append(left, kept, "undo-touch-1: Gateway shop/a is not ready after 15m0s: InProgress"))
	if len(left) != maxLeft || left[0] != kept || !slices.IsSorted(left[1:]) {
		t.Errorf("the status has %q", left)
	}
}
