package node

import "time"

// The limits of sequences and epochs. Both count from 1 and rise by one per order or leader, which
// is slower than time passes, so that a number above the Unix time is not Refit's. After any number
// that a host accepted, a later order can have a higher one.
const (
	// fenceSlack is how far the clock of a host may be behind.
	fenceSlack = 10 * time.Minute
	// minFence is for hosts whose clock is not set.
	minFence = 100_000
)

// MaxFence returns the highest sequence and epoch that a host accepts.
func MaxFence(now time.Time) int64 { return max(now.Add(fenceSlack).Unix(), minFence) }

// MaxLeaderEpoch returns the highest epoch that a new leader starts above. It is lower than what
// hosts accept, so that no host, NodeUpgrade or report can raise the leader above that.
func MaxLeaderEpoch(now time.Time) int64 { return max(now.Unix(), minFence) }
