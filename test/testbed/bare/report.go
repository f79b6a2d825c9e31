package bare

import (
	"fmt"
	"io"

	"github.com/refit-dev/refit/test/testbed/sample"
)

// Report is what a bare upgrade took, in seconds.
type Report struct {
	Cluster string `json:"cluster"`
	From    string `json:"from"`
	To      string `json:"to"`
	// Preload is the time to import images, not part of Seconds.
	Preload float64 `json:"preloadSeconds"`
	// Seconds from the first part on the first node until the whole cluster was ready.
	Seconds float64      `json:"seconds"`
	Nodes   []NodeReport `json:"nodes"`
	// Availability while it went on, if it was sampled.
	Availability *sample.Report `json:"availability,omitempty"`
}

// NodeReport is what one node took.
type NodeReport struct {
	Node    string  `json:"node"`
	Role    string  `json:"role"`
	Seconds float64 `json:"seconds"`
	Parts   []Part  `json:"parts"`
}

// Part is what one part on one node took.
type Part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// WriteTable writes the report for a person.
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
