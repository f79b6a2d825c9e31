package server

import (
	"cmp"
	"maps"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// documents builds the documents of the API from a copy of the cluster.
type documents struct {
	cluster string // the user's name for it
	command string // the command that the user types to run the CLI, for remedies
	now     func() time.Time
	local   *localAgent
}

// observed returns where a copy comes from, and when it was equal to the cluster.
func observed(c *operations.Copy) (api.Source, time.Time) {
	if c.API.Current {
		return api.API, c.API.CurrentAt.UTC()
	}
	return api.LastKnown, c.API.CurrentAt.UTC()
}

func (d *documents) apiServer(c *operations.Copy) api.APIServer {
	out := api.APIServer{Reachable: c.API.Reachable(), Error: c.API.Error}
	if !c.API.AnsweredAt.IsZero() {
		out.AnsweredAt = c.API.AnsweredAt.UTC()
	}
	if !c.API.UnreachableSince.IsZero() {
		out.UnreachableSince = c.API.UnreachableSince.UTC()
		if outage := d.outage(c); outage != nil {
			out.Outage = *outage
		}
	}
	return out
}

func (d *documents) state(c *operations.Copy) *api.State {
	all := c.Sorted()
	out := &api.State{
		Cluster: d.cluster, APIServer: d.apiServer(c), Agent: d.agent(c), Operations: len(all), Leader: c.Leader,
		Releases: d.releases(c, all), Nodes: summary(c), Unread: []api.Unread{}, NotInstalled: c.NotInstalled,
	}
	out.Source, out.ObservedAt = observed(c)
	if u := operations.ActiveOrLast(all); u != nil {
		out.Operation = *d.operation(c, u)
	}
	for _, part := range slices.Sorted(maps.Keys(c.Gaps)) {
		out.Unread = append(out.Unread, api.Unread{Part: part, Message: c.Gaps[part]})
	}
	return out
}

func (d *documents) operation(c *operations.Copy, u *refitv1alpha1.ClusterUpgrade) *cliv1alpha1.Operation {
	orders := make([]*refitv1alpha1.NodeUpgrade, 0, len(c.Orders))
	for _, order := range c.Orders {
		orders = append(orders, order)
	}
	o := progress.NewOperation(d.cluster, u, orders, d.now())
	if !c.API.UnreachableSince.IsZero() {
		o.UnreachableSince, o.UnreachableError = c.API.UnreachableSince.UTC(), c.API.Error
	}
	return o
}

func (d *documents) answer(c *operations.Copy, u *refitv1alpha1.ClusterUpgrade) api.OperationAnswer {
	out := api.OperationAnswer{Operation: *d.operation(c, u), Spec: u.Spec}
	out.Source, out.ObservedAt = observed(c)
	return out
}

func (d *documents) releases(c *operations.Copy, all []refitv1alpha1.ClusterUpgrade) []cliv1alpha1.ListedRelease {
	return progress.NewReleases(d.cluster, slices.Collect(maps.Values(c.Releases)), all).Releases
}

func summary(c *operations.Copy) api.NodeSummary {
	out, versions := api.NodeSummary{Total: len(c.Nodes), Versions: []api.NodeVersions{}}, map[string]int{}
	for name, n := range c.Nodes {
		versions[n.Kubelet]++
		if n.ControlPlane {
			out.ControlPlane++
		}
		if n.Ready {
			out.Ready++
		}
		if c.Reports[name] != nil {
			out.Agents++
		}
	}
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		out.Versions = append(out.Versions, api.NodeVersions{Kubelet: version, Nodes: versions[version]})
	}
	return out
}

// known returns what a copy has about a node in an upgrade, which may be nil.
func known(c *operations.Copy, node string, u *refitv1alpha1.ClusterUpgrade) progress.Known {
	return progress.Known{Node: c.Nodes[node], Order: c.Orders[node], Report: c.Reports[node], Operation: u}
}

func (d *documents) row(c *operations.Copy, node string, u *refitv1alpha1.ClusterUpgrade) cliv1alpha1.NodeRow {
	return progress.NewNodeRow(d.cluster, d.command, known(c, node, u))
}

// operationName is the name of an operation that may be nil.
func operationName(u *refitv1alpha1.ClusterUpgrade) string {
	if u == nil {
		return ""
	}
	return u.Name
}

// pageOf returns a page of rows by name, after the last one of the previous page.
func pageOf(rows []cliv1alpha1.NodeRow, after string, limit int) (page []cliv1alpha1.NodeRow, next string) {
	slices.SortFunc(rows, func(a, b cliv1alpha1.NodeRow) int { return cmp.Compare(a.Node, b.Node) })
	start, _ := slices.BinarySearchFunc(rows, after+"\x00", func(r cliv1alpha1.NodeRow, name string) int { return cmp.Compare(r.Node, name) })
	if after == "" {
		start = 0
	}
	end := min(start+limit, len(rows))
	if end < len(rows) {
		next = rows[end-1].Node
	}
	return rows[start:end], next
}
