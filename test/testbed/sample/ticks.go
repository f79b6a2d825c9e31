package sample

import "time"

// nextTick returns the first tick after now of a stream whose last tick was at due, and how many
// ticks were missed. Missed ticks are not repeated: a burst of late samples would not describe the
// missed time.
func nextTick(due, now, interval time.Duration) (next time.Duration, missed int) {
	next = due + interval
	if next > now {
		return next, 0
	}
	missed = int((now-next)/interval) + 1
	return next + time.Duration(missed)*interval, missed
}
