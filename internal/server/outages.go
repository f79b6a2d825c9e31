package server

import (
	"maps"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/upgrade/outage"
)

// agent returns the connection to the agent of this host, zero if it has none or belongs to another
// cluster.
func (d *documents) agent(c *operations.Copy) api.LocalAgent {
	link := d.local.get()
	if link.Status.Kind != "" && !isOf(c, &link.Status) {
		return api.LocalAgent{}
	}
	return link
}

// outage decides whether the upgrade explains that the API server is unreachable.
func (d *documents) outage(c *operations.Copy) *cliv1alpha1.Outage {
	in := &outage.Input{
		Since: c.API.UnreachableSince, Error: c.API.Error, Servers: servers(c), Members: members(c), ObservedAt: c.API.CurrentAt, Now: d.now(),
	}
	if u := operations.ActiveOrLast(c.Sorted()); u != nil && !u.HasEnded() {
		in.Operation = u
	}
	for _, name := range slices.Sorted(maps.Keys(c.Orders)) {
		in.Orders = append(in.Orders, c.Orders[name])
	}
	in.Usual = outage.Usual(in.Orders)
	if link := d.agent(c); link.Status.Kind != "" {
		in.Agent = &link.Status
	}
	return outage.Decide(in)
}

// servers returns the API servers of the control plane. The only one is the one that does not
// respond; several have addresses of their own, which nobody has tried.
func servers(c *operations.Copy) []outage.Server {
	var out []outage.Server
	for _, name := range slices.Sorted(maps.Keys(c.Nodes)) {
		if c.Nodes[name].ControlPlane {
			out = append(out, outage.Server{Node: name})
		}
	}
	if len(out) == 1 {
		out[0].Reach = outage.Silent
	}
	return out
}

// members returns the number of etcd members on control plane nodes, 0 if it is unknown.
func members(c *operations.Copy) (n int) {
	for name, node := range c.Nodes {
		if !node.ControlPlane {
			continue
		}
		report := c.Reports[name]
		if report == nil {
			return 0
		}
		if report.Status.Etcd != nil {
			n++
		}
	}
	return n
}
