package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// endpointSilent checks that the endpoint answers every control plane node, and that not two of
// them hold its address. A host that is partly changed is finished whatever the endpoint does: it
// may be the cause. An aborted operation ends without the endpoint.
func endpointSilent(d *deciding, turn *cluster.Node, _ int) *Wait {
	if d.op.Spec.Aborted || d.changing(turn) || slices.ContainsFunc(d.servers, func(n *cluster.Node) bool { return d.retried(n, turn) }) {
		return nil
	}
	if w := d.addressHeldTwice(); w != nil {
		return w
	}
	for _, n := range d.servers {
		switch {
		case policy.Waived(d.spec, policy.CheckUnreachable, "") || policy.Waived(d.spec, policy.CheckUnreachable, policy.NodeObject(n.Name)):
		case n.Report == nil || n.Report.EndpointReachable == nil:
			return d.endpointUnhealthy(n, fmt.Sprintf("The agent on %s does not report whether the API endpoint answers it", n.Name),
				fmt.Sprintf("Run `curl -k https://%s/readyz` on %s, and check its agent: `journalctl -u refit-agent`", d.s.Endpoint.Address, n.Name))
		case !*n.Report.EndpointReachable:
			return d.endpointUnhealthy(n, fmt.Sprintf("The API endpoint %s does not answer %s", d.s.Endpoint.Address, n.Name),
				fmt.Sprintf("Run `curl -k https://%s/readyz` on %s, and check the load balancer or the virtual IP; Refit continues once it answers. "+
					"If %[2]s never reaches it, waive %[3]s for the node", d.s.Endpoint.Address, n.Name, policy.CheckUnreachable))
		}
	}
	return nil
}

// addressHeldTwice checks the holders of a virtual IP. No holder is no problem while the endpoint
// answers every node: it may be a load balancer that has taken over the address.
func (d *deciding) addressHeldTwice() *Wait {
	holders := d.s.EndpointHolders()
	shared := slices.ContainsFunc(d.servers, func(n *cluster.Node) bool {
		facts := d.s.VirtualIP(n)
		return facts != nil && facts.Shared
	})
	if len(holders) < 2 || shared || policy.WaivedAnywhere(d.spec, policy.CheckHeldTwice) {
		return nil
	}
	for _, n := range holders {
		d.refreshReport(n)
	}
	return d.endpointUnhealthy(holders[0],
		fmt.Sprintf("%s and %s both hold the API endpoint's address %s", holders[0].Name, holders[1].Name, d.s.Endpoint.Host()),
		fmt.Sprintf("Check the network between them and what moves the address (keepalived, kube-vip); Refit continues once one node holds it. "+
			"If every node holds it on purpose, waive %s", policy.CheckHeldTwice))
}

// endpointUnhealthy waits for a node. The address may move while a node restarts.
func (d *deciding) endpointUnhealthy(n *cluster.Node, message, remedy string) *Wait {
	d.refreshReport(n)
	return &Wait{
		Reason: refitv1alpha1.ReasonControlPlaneUnhealthy, Node: n.Name, ManualIntervention: !slices.ContainsFunc(d.servers, d.restarting),
		Message: message, Remedy: remedy,
	}
}
