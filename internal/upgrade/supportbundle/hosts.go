package supportbundle

import (
	"cmp"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Host is a host of which a bundle may have the journals.
type Host struct {
	Node         string
	ControlPlane bool
	// Reachable is false if the kubelet does not report its status any more: no Pod can start.
	Reachable bool
	// Changed is true if the operation has an order for the node.
	Changed bool
}

// SelectHosts returns the hosts to collect, the most important ones first, and those above the
// limit. With names, exactly these are selected, and the limit does not count.
func SelectHosts(all []Host, u *refitv1alpha1.ClusterUpgrade, names []string, limit int) (selected, left []Host) {
	hosts := slices.Clone(all)
	if len(names) > 0 {
		hosts = slices.DeleteFunc(hosts, func(h Host) bool { return !slices.Contains(names, h.Node) })
		limit = len(hosts)
	}
	slices.SortStableFunc(hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(rank(&a, u), rank(&b, u)), cmp.Compare(a.Node, b.Node))
	})
	limit = min(limit, len(hosts))
	return hosts[:limit], hosts[limit:]
}

// Unknown returns the names that no host has.
func Unknown(all []Host, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(all, func(h Host) bool { return h.Node == name })
	})
}

// rank orders hosts: where the operation failed, where it is active, the control plane, other nodes
// that it has changed, the rest.
func rank(h *Host, u *refitv1alpha1.ClusterUpgrade) int {
	switch {
	case u != nil && slices.ContainsFunc(u.Status.Failures, func(f refitv1alpha1.Failure) bool { return f.Node == h.Node }):
		return 0
	case u != nil && slices.Contains(u.Status.Active, h.Node):
		return 1
	case h.ControlPlane:
		return 2
	case h.Changed:
		return 3
	}
	return 4
}
