//go:build e2e

package upgrade

import (
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// Aliases for helpers that are used throughout the package.
var (
	must     = bed.Must
	show     = bed.Show
	until    = bed.Until
	soon     = bed.Soon
	mentions = bed.Mentions
)

const (
	older  = bed.Older
	newer  = bed.Newer
	newest = bed.Newest

	checkTimeout = bed.CheckTimeout
	recovery     = bed.Recovery
	// whole limits the time of an operation on a whole cluster, including all disturbances by
	// tests.
	whole = 30 * time.Minute
)
