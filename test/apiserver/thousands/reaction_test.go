//go:build apiserver

package thousands

import (
	"slices"
	"time"
)

// moments are the times of a node's events, as a watch observed them.
type moments struct {
	pool, zone string

	claimed, draining, drained, permitted, done time.Time
}

// reaction is how long the controller took from the completion of a node to the permit of the next
// one, without the time in which that node's pods terminated.
type reaction struct {
	claim  time.Duration // from completion to the claim of the next node
	begin  time.Duration // from the claim to the start of its drain
	permit time.Duration // from the end of its drain to its permit
}

func (r reaction) whole() time.Duration { return r.claim + r.begin + r.permit }

// reactions returns those of a pool with this maxUnavailable. A pool proceeds zone by zone: the
// first node of a zone that completes frees a slot for the first one that was claimed after the
// window was full.
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

// below returns a quantile of a duration over all reactions.
func below(all []reaction, share float64, took func(reaction) time.Duration) time.Duration {
	times := make([]time.Duration, 0, len(all))
	for _, r := range all {
		times = append(times, took(r))
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(share*float64(len(times))))]
}
