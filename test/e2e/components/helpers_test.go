//go:build e2e

package components

import "github.com/refit-dev/refit/test/e2e/bed"

// Aliases for helpers that are used throughout the package.
var (
	must     = bed.Must
	show     = bed.Show
	until    = bed.Until
	mentions = bed.Mentions
)

const (
	older = bed.Older
	newer = bed.Newer

	checkTimeout = bed.CheckTimeout
	whole        = bed.Whole
)
