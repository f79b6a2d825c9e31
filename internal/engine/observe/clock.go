package observe

import (
	"net/http"
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// serverAhead returns how far the clock of the server that responded is ahead of this one, with a
// precision of about a second.
func serverAhead(response *http.Response) (time.Duration, bool) {
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return 0, false
	}
	return time.Until(date), true
}

// serverClock is what the responses of one API server show of its clock.
type serverClock struct{ ahead *time.Duration }

func (c *serverClock) note(response *http.Response) {
	if ahead, known := serverAhead(response); known && c != nil {
		c.ahead = &ahead
	}
}

// clockOffset returns how far this clock is ahead of most API servers': if one of them has a wrong
// clock, this one is right. If none was reached at its own address, the endpoint's clock counts.
func (obs *observation) clockOffset() time.Duration {
	return medianOffset(obs.snapshot.APIServers, -time.Duration(obs.meter.ahead.Load()))
}

func medianOffset(servers []cluster.APIServer, unknown time.Duration) time.Duration {
	var offsets []time.Duration
	for i := range servers {
		if ahead := servers[i].ClockAhead; ahead != nil {
			offsets = append(offsets, -*ahead)
		}
	}
	if len(offsets) == 0 {
		return unknown
	}
	slices.Sort(offsets)
	low, high := offsets[(len(offsets)-1)/2], offsets[len(offsets)/2]
	if high.Abs() < low.Abs() {
		return high
	}
	return low
}
