package sample

import "time"

// nextTick returns the first tick after now of a stream whose last tick was due
// at due, and how many ticks passed unused in between. They are not made up for:
// a burst of late samples would say nothing about the time that was missed.
func nextTick(due, now, interval time.Duration) (next time.Duration, missed int) {
	next = due + interval
	if next > now {
		return next, 0
	}
	missed = int((now-next)/interval) + 1
	return next + time.Duration(missed)*interval, missed
}
