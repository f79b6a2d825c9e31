package preflight

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// endpointHeldTwice: packets to the address reach one node or the other, by chance. Software that
// gives every node the address on purpose, such as kube-vip with BGP, reports that. Reports may be
// older than a failover, so the finding only warns: the gate EndpointAnswers requests new ones.
func endpointHeldTwice(v *view) []Finding {
	holders := v.s.EndpointHolders()
	upgraded := func(n *node) bool { return n.ControlPlane && n.touched }
	if len(holders) < 2 || !slices.ContainsFunc(v.controlPlane(), upgraded) || slices.ContainsFunc(holders, v.sharesAddress) {
		return nil
	}
	names := make([]string, 0, len(holders))
	oldest := holders[0].Report.Observed()
	for _, n := range holders {
		names = append(names, n.Name)
		if observed := n.Report.Observed(); observed.Before(oldest) {
			oldest = observed
		}
	}
	return []Finding{{
		Object:     policy.NodeObject(holders[0].Name),
		ReportTime: oldest,
		Message:    fmt.Sprintf("the address %s of the API endpoint is on interfaces of %s", v.s.Endpoint.Host(), joinNames(names)),
		Remedy: fmt.Sprintf("Check the network between them and what moves the address: run `ip address show to %s; journalctl -u keepalived` on each. "+
			"If every node holds it on purpose, waive the check.", v.s.Endpoint.Host()),
	}}
}

func (v *view) sharesAddress(n *cluster.Node) bool {
	facts := v.s.VirtualIP(n)
	return facts != nil && facts.Shared
}

// virtualIPUnchecked: without a check, the address leaves a node only with its link or with the
// software itself, so it points to an API server that is being replaced.
func virtualIPUnchecked(v *view) []Finding {
	if len(v.s.ControlPlane()) == 1 || v.behindProxy() {
		return nil
	}
	return v.onHosts(func(n *node, _ *refitv1alpha1.NodeReportStatus) Finding {
		facts := v.s.VirtualIP(n.Node)
		if n.ControlPlane && facts == nil && v.s.HoldsVirtually(n.Node) {
			return movedByOthers(v.s.Endpoint.Host(), n.Name)
		}
		if !n.ControlPlane || facts == nil || (facts.HealthCheck != nil && *facts.HealthCheck) {
			return Finding{}
		}
		f := Finding{
			Message: fmt.Sprintf("%s on %s does not check the API server: while %[2]s holds %[3]s and its API server is replaced, "+
				"the API is unavailable at %[4]s", facts.Software, n.Name, facts.Address, v.s.Endpoint.Address),
			Remedy: uncheckedRemedy(facts, n.Name),
		}
		if facts.HealthCheck == nil {
			f.Unknown = true
			f.Message = fmt.Sprintf("whether %s on %s checks the API server before it holds %s is unknown", facts.Software, n.Name, facts.Address)
		}
		return f
	})
}

// movedByOthers is the finding for a node that holds the address, but has neither keepalived nor a
// static pod of kube-vip.
func movedByOthers(address, node string) Finding {
	return Finding{
		Unknown: true,
		Message: fmt.Sprintf("%s holds %s, and it is unknown which software moves the address and whether it checks the API server", node, address),
		Remedy: fmt.Sprintf("Find out what moves the address, such as kube-vip in a DaemonSet: run `kubectl -n kube-system get daemonsets`. "+
			"Check that it leaves a node whose API server is down (kube-vip: vip_leaderelection is \"true\"). "+
			"If not, the API is unavailable at %s while the API server of %s is replaced.", address, node),
	}
}

func uncheckedRemedy(facts *refitv1alpha1.VirtualIPFacts, node string) string {
	if facts.Software == refitv1alpha1.KubeVIP {
		return fmt.Sprintf("Set vip_leaderelection to \"true\" in the static pod of kube-vip on %s.", node)
	}
	return fmt.Sprintf("Add a vrrp_script that runs `curl -fsk --max-time 1 https://localhost:6443/readyz` and a track_script with it to the vrrp_instance in "+
		"/etc/keepalived/keepalived.conf on %s. Then run `systemctl reload keepalived`.", node)
}

// behindProxy reports whether the endpoint has another port than every API server: a proxy on each
// node forwards to any API server, so the address does not depend on that of its node.
func (v *view) behindProxy() bool {
	port := v.s.Endpoint.Port()
	for i := range v.s.APIServers {
		server := cluster.Endpoint{Address: v.s.APIServers[i].Address}
		if server.Address == "" || server.Port() == port {
			return false
		}
	}
	return len(v.s.APIServers) > 0
}
