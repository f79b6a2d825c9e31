package bare

import (
	"fmt"
	"io"

	"github.com/refit-dev/refit/test/testbed/sample"
)

// Report contains the durations of a bare upgrade, in seconds.
type Report struct {
	Cluster string `json:"cluster"`
	From    string `json:"from"`
	To      string `json:"to"`
	// Preload is the time to import images. It is not part of Seconds.
	Preload float64 `json:"preloadSeconds"`
	// Seconds is the time from the first part on the first node until the cluster was ready.
	Seconds float64      `json:"seconds"`
	Nodes   []NodeReport `json:"nodes"`
	// Availability is set if it was sampled during the upgrade.
	Availability *sample.Report `json:"availability,omitempty"`
}

// NodeReport contains the durations of one node.
type NodeReport struct {
	Node    string  `json:"node"`
	Role    string  `json:"role"`
	Seconds float64 `json:"seconds"`
	Parts   []Part  `json:"parts"`
}

// Part contains the duration of one part.
type Part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// WriteTable writes the report as text.
func (r Report) WriteTable(out io.Writer) error {
	fmt.Fprintf(out, "%s: %s to %s in %.1f s (images imported before that in %.1f s)\n", r.Cluster, r.From, r.To, r.Seconds, r.Preload)
	for _, n := range r.Nodes {
		fmt.Fprintf(out, "  %-24s %8.1f s\n", n.Node, n.Seconds)
		for _, p := range n.Parts {
			fmt.Fprintf(out, "    %-28s %6.1f s\n", p.Name, p.Seconds)
		}
	}
	if r.Availability == nil {
		return nil
	}
	return r.Availability.WriteTable(out)
}
