package sample

import (
	"math"
	"time"
)

// Kind is what a stream asks, and how.
type Kind string

const (
	// KindAPINew reads a ConfigMap over a new TCP and TLS connection each time.
	KindAPINew Kind = "api_new"
	// KindAPIReused reads it over one connection, as a client-go client does.
	KindAPIReused Kind = "api_reused"
	// KindService asks a workload's Service, over a new connection each time.
	KindService Kind = "service"
)

// Report is what was seen. Its JSON names are stable: baselines are kept in it.
type Report struct {
	Started         time.Time    `json:"started"`
	Seconds         float64      `json:"seconds"`
	IntervalSeconds float64      `json:"interval_seconds"`
	TimeoutSeconds  float64      `json:"timeout_seconds"`
	Kinds           []KindReport `json:"kinds"` // only those that were sampled
}

// KindReport sums up all streams of a kind: counts and seconds are added up over
// the nodes, the longest gap is that of any one of them.
type KindReport struct {
	Kind Kind `json:"kind"`
	Totals
	Gaps  []GapReport  `json:"gaps,omitempty"`  // of an API kind; a Service's are with its nodes
	Nodes []NodeReport `json:"nodes,omitempty"` // of the Service only
}

// NodeReport is the Service as seen from one node.
type NodeReport struct {
	Node string `json:"node"`
	Totals
	Gaps []GapReport `json:"gaps,omitempty"`
}

// Totals are the numbers of one stream, or of several added up.
type Totals struct {
	WatchedSeconds    float64        `json:"watched_seconds"` // without the time of exclusion
	Samples           int            `json:"samples"`
	Failed            int            `json:"failed"`
	MissedTicks       int            `json:"missed_ticks"` // the sampler itself was held up: its resolution was worse than the interval
	GapCount          int            `json:"gap_count"`
	GapsOpen          int            `json:"gaps_open"` // of them, those that no good sample ended
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

// Kind returns the part of the report on one kind, if that was sampled.
func (r Report) Kind(kind Kind) (KindReport, bool) {
	for _, k := range r.Kinds {
		if k.Kind == kind {
			return k, true
		}
	}
	return KindReport{}, false
}

// newReport keeps the order of the streams, whose kinds must lie together.
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

// seconds are rounded to milliseconds: far below the interval, and readable.
func seconds(d time.Duration) float64 {
	return math.Round(d.Seconds()*1000) / 1000
}
