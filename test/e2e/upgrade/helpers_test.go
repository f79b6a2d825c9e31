//go:build e2e

package upgrade

import (
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// What is said so often that it is said without the package's name.
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

	patience = bed.Patience
	recovery = bed.Recovery
	// whole is how long an operation on a whole cluster may take, with everything that tests do to it.
	whole = 30 * time.Minute
)
