package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// endpointSilent checks that the endpoint answers every control plane node, and that exactly one of
// them holds its address if it is a virtual IP. A host that is partly changed is finished whatever
// the endpoint does: it may be the cause.
func endpointSilent(d *deciding, turn *cluster.Node, _ int) *Wait {
	if d.changing(turn) {
		return nil
	}
	if w := d.addressMisplaced(); w != nil {
		return w
	}
	for _, n := range d.servers {
		switch {
		case d.retried(n, turn):
		case n.Report == nil || n.Report.EndpointReachable == nil:
			return d.endpointUnhealthy(n, fmt.Sprintf("The agent on %s does not report whether the API endpoint answers it", n.Name),
				fmt.Sprintf("Run `curl -k https://%s/readyz` on %s, and check its agent: `journalctl -u refit-agent`", d.s.Endpoint.Address, n.Name))
		case !*n.Report.EndpointReachable:
			return d.endpointUnhealthy(n, fmt.Sprintf("The API endpoint %s does not answer %s", d.s.Endpoint.Address, n.Name),
				fmt.Sprintf("Run `curl -k https://%s/readyz` on %s, and check the load balancer or the virtual IP; Refit continues once it answers",
					d.s.Endpoint.Address, n.Name))
		}
	}
	return nil
}

// addressMisplaced checks the holders of a virtual IP. An address that no control plane node is
// configured to hold is that of a load balancer.
func (d *deciding) addressMisplaced() *Wait {
	holders, moving, known := d.s.EndpointHolders(), []string(nil), true
	for _, n := range d.servers {
		facts := d.s.VirtualIP(n)
		if facts != nil && facts.Shared {
			return nil
		}
		if facts != nil {
			moving = append(moving, n.Name)
		}
		known = known && n.Report != nil && !slices.Contains(n.Report.Truncated, "addresses")
	}
	switch {
	case len(holders) > 1 && !policy.WaivedAnywhere(d.spec, policy.CheckHeldTwice):
		for _, n := range holders {
			d.refreshReport(n)
		}
		return d.endpointUnhealthy(holders[0],
			fmt.Sprintf("%s and %s both hold the API endpoint's address %s", holders[0].Name, holders[1].Name, d.s.Endpoint.Host()),
			fmt.Sprintf("Check the network between them and what moves the address (keepalived, kube-vip); Refit continues once one node holds it. "+
				"If every node holds it on purpose, waive %s", policy.CheckHeldTwice))
	case len(holders) == 0 && len(moving) > 0 && known:
		return d.endpointUnhealthy(d.nodes[moving[0]],
			fmt.Sprintf("No control plane node holds the API endpoint's address %s, which %s should move between them", d.s.Endpoint.Host(),
				d.s.VirtualIP(d.nodes[moving[0]]).Software),
			fmt.Sprintf("Check it on %s; Refit continues once one node holds the address", phrase.List(moving)))
	}
	return nil
}

// endpointUnhealthy waits for a node. The address may move while a node restarts.
func (d *deciding) endpointUnhealthy(n *cluster.Node, message, remedy string) *Wait {
	d.refreshReport(n)
	return &Wait{
		Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: n.Name, ManualIntervention: !slices.ContainsFunc(d.servers, d.restarting),
		Message: message, Remedy: remedy,
	}
}
