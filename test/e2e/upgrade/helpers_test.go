//go:build e2e

package upgrade

import "github.com/refit-dev/refit/test/e2e/bed"

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
	whole        = bed.Whole

	exitDone        = bed.ExitDone
	exitFailed      = bed.ExitFailed
	exitUsage       = bed.ExitUsage
	exitBlocked     = bed.ExitBlocked
	exitInterrupted = bed.ExitInterrupted
)
