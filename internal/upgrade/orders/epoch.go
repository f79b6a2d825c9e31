package orders

import (
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// HighestEpoch returns the highest of the epochs of orders and operations, and of those that hosts
// report to have accepted. It ignores epochs that no leader has raised: a forged order or a
// compromised host must not exhaust them.
func HighestEpoch(now time.Time, epochs ...int64) int64 {
	var highest int64
	for _, epoch := range epochs {
		if epoch <= node.MaxLeaderEpoch(now) {
			highest = max(highest, epoch)
		}
	}
	return highest
}
