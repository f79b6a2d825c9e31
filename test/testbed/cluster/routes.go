package cluster

import "github.com/refit-dev/refit/test/testbed/machine"

// RoutePods routes the addresses of the Pods from the machine to their nodes, so that Pods reach
// the API endpoints of other clusters. The routes disappear with the bridge.
func (c *Cluster) RoutePods() error {
	for _, n := range c.Nodes() {
		if err := machine.EnsureRoute(bridgeName(c.s.Number), c.s.podRange(n.m.Number), n.Address()); err != nil {
			return err
		}
	}
	return nil
}
