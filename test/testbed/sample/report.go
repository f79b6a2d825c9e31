package sample

import (
	"math"
	"time"
)

// Kind is what a stream requests, and how.
type Kind string

const (
	// KindAPINew reads a ConfigMap over a new TCP and TLS connection each time.
	KindAPINew Kind = "api_new"
	// KindAPIReused reads it over one connection, as a client-go client does.
	KindAPIReused Kind = "api_reused"
	// KindService requests a workload's Service over a new connection each time.
	KindService Kind = "service"
)

// Report contains the results. Its JSON names are stable, because baselines are stored in it.
type Report struct {
	Started         time.Time    `json:"started"`
	Seconds         float64      `json:"seconds"`
	IntervalSeconds float64      `json:"interval_seconds"`
	TimeoutSeconds  float64      `json:"timeout_seconds"`
	Kinds           []KindReport `json:"kinds"` // only those that were sampled
}

// KindReport sums up all streams of a kind: counts and seconds are totals over the nodes, and the
// longest gap is that of any one of them.
type KindReport struct {
	Kind Kind `json:"kind"`
	Totals
	Gaps  []GapReport  `json:"gaps,omitempty"`  // of an API kind; for a Service, see Nodes
	Nodes []NodeReport `json:"nodes,omitempty"` // only for the Service
}

// NodeReport is the Service as seen from one node.
type NodeReport struct {
	Node string `json:"node"`
	Totals
	Gaps []GapReport `json:"gaps,omitempty"`
}

// Totals are the numbers of one stream, or the sums of several.
type Totals struct {
	WatchedSeconds float64 `json:"watched_seconds"` // without excluded time
	Samples        int     `json:"samples"`
	Failed         int     `json:"failed"`
	// The sampler was delayed, so its resolution was lower.
	MissedTicks       int            `json:"missed_ticks"`
	GapCount          int            `json:"gap_count"`
	GapsOpen          int            `json:"gaps_open"` // gaps without a good sample after them
	GapSeconds        float64        `json:"gap_seconds"`
	LongestGapSeconds float64        `json:"longest_gap_seconds"`
	Reasons           map[string]int `json:"reasons,omitempty"` // of the failed samples
}

// GapReport is one gap, in seconds after the start of the report.
type GapReport struct {
	FromSeconds float64 `json:"from_seconds"`
	ToSeconds   float64 `json:"to_seconds"`
	Open        bool    `json:"open,omitempty"`
}

// Kind returns the report of one kind, if it was sampled.
func (r Report) Kind(kind Kind) (KindReport, bool) {
	for _, k := range r.Kinds {
		if k.Kind == kind {
			return k, true
		}
	}
	return KindReport{}, false
}

// newReport keeps the order of the streams, which must be grouped by kind.
func newReport(started time.Time, interval, timeout time.Duration, seen []observation) Report {
	r := Report{
		Started:         started.UTC().Round(0),
		IntervalSeconds: seconds(interval),
		TimeoutSeconds:  seconds(timeout),
		Kinds:           []KindReport{},
	}
	sums := map[Kind]tally{}
	for _, o := range seen {
		r.Seconds = max(r.Seconds, seconds(o.until))
		own := tallyOf(o)
		sum := sums[o.kind].plus(own)
		sums[o.kind] = sum

		if n := len(r.Kinds); n == 0 || r.Kinds[n-1].Kind != o.kind {
			r.Kinds = append(r.Kinds, KindReport{Kind: o.kind})
		}
		k := &r.Kinds[len(r.Kinds)-1]
		k.Totals = sum.totals()
		if o.node == "" {
			k.Gaps = own.gapReports()
		} else {
			k.Nodes = append(k.Nodes, NodeReport{Node: o.node, Totals: own.totals(), Gaps: own.gapReports()})
		}
	}
	return r
}

// seconds rounds to milliseconds.
func seconds(d time.Duration) float64 {
	return math.Round(d.Seconds()*1000) / 1000
}
