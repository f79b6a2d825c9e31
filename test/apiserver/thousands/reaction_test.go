//go:build apiserver

package thousands

import (
	"slices"
	"time"
)

// moments are when something happened to a node, as somebody saw who watches.
type moments struct {
	pool, zone string

	claimed, draining, drained, permitted, done time.Time
}

// reaction is how long the controller took from a node that was done to the next one that was permitted to change, without the time in which that one's pods
// went.
type reaction struct {
	claim  time.Duration // from done to the claim of the next one
	begin  time.Duration // from that to the beginning of its drain
	permit time.Duration // from its being empty to its permit
}

func (r reaction) whole() time.Duration { return r.claim + r.begin + r.permit }

// reactions are those of a pool of which so many nodes go at once. A pool goes zone by zone: the first node of a zone that is done makes room for the first one
// that was claimed after the window was full.
func (w *watcher) reactions(pool string, atOnce int) []reaction {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []reaction
	claimed, done := byZone(w.claimed, pool), byZone(w.done, pool)
	for zone := range claimed {
		for i, next := range claimed[zone][min(atOnce, len(claimed[zone])):] {
			out = append(out, reaction{
				claim: next.claimed.Sub(done[zone][i].done), begin: next.draining.Sub(next.claimed), permit: next.permitted.Sub(next.drained),
			})
		}
	}
	return out
}

func byZone(nodes []*moments, pool string) map[string][]*moments {
	out := map[string][]*moments{}
	for _, m := range nodes {
		if m.pool == pool {
			out[m.zone] = append(out[m.zone], m)
		}
	}
	return out
}

// below is what a share of all reactions stays below.
func below(all []reaction, share float64, took func(reaction) time.Duration) time.Duration {
	times := make([]time.Duration, 0, len(all))
	for _, r := range all {
		times = append(times, took(r))
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(share*float64(len(times))))]
}
