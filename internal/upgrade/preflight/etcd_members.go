package preflight

import (
	"fmt"
	"slices"
)

// etcdTwoMembers counts the members that etcd lists, which may run on nodes that are not control
// plane nodes.
func etcdTwoMembers(v *view) []Finding {
	names := v.memberNames()
	if len(names) != 2 {
		return nil
	}
	return []Finding{{
		Object: etcdCluster,
		Message: fmt.Sprintf("etcd has two members (%s and %s): the upgrade of either one loses quorum, and the API is unavailable for about a "+
			"minute each time",
			names[0], names[1]),
		Remedy: "Add a third control plane node: `kubeadm join --control-plane`. To accept the downtime, waive EtcdTwoMembers.",
	}}
}

// memberNames returns the member list of etcd, or the nodes with a member if none reports it.
func (v *view) memberNames() []string {
	members := v.members()
	for _, n := range members {
		if listed := n.listedMembers(); len(listed) > 0 {
			return slices.Sorted(slices.Values(listed))
		}
	}
	var names []string
	for i := range v.nodes {
		if n := &v.nodes[i]; len(members) > 0 && n.memberName() != "" {
			names = append(names, n.Name)
		}
	}
	return names
}

// listedMembers returns the member list that the etcd member on the node reports.
func (n *node) listedMembers() []string {
	if n.Report == nil || n.Report.Etcd == nil {
		return nil
	}
	return n.Report.Etcd.Members
}

// memberName returns the name of the etcd member on the node, empty if the node has none.
func (n *node) memberName() string {
	pod, has := n.Static["etcd"]
	switch {
	case n.Report != nil && n.Report.Etcd != nil:
		return n.Report.Etcd.Name
	case !has:
		return ""
	case pod.Flags["name"] != "":
		return pod.Flags["name"]
	}
	return n.Name
}

// etcdMembershipDiffers compares the member list of each member with the control plane nodes:
// nobody upgrades a surplus member.
func etcdMembershipDiffers(v *view) []Finding {
	members := v.members()
	if len(members) == 0 {
		return v.externalClustersDiffer()
	}
	expected := map[string]bool{}
	for _, n := range members {
		expected[n.memberName()] = true
	}
	found := v.unlabelledMembers(expected)
	for _, n := range members {
		if differ := differences(n.listedMembers(), expected); len(differ) > 0 {
			found = append(found, Finding{
				Object:  etcdObject(n),
				Message: fmt.Sprintf("the member list of etcd on %s does not match the control plane nodes: %s", n.Name, joinNames(differ)),
				Remedy: "Remove a member only if its machine no longer runs (`etcdctl member list; etcdctl member remove ID`). Join a missing node " +
					"again.",
			})
		}
	}
	return found
}

// unlabelledMembers reports the nodes that run an etcd member but are not control plane nodes, and
// adds their members to the expected ones: the removal of such a member removes a healthy voter.
func (v *view) unlabelledMembers(expected map[string]bool) []Finding {
	listed := v.memberNames()
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		name := n.memberName()
		if name == "" && slices.Contains(listed, n.Name) {
			name = n.Name // neither its agent nor its pods were read
		}
		if n.ControlPlane || name == "" {
			continue
		}
		expected[name] = true
		found = append(found, Finding{
			Object:  etcdObject(n),
			live:    n.Report == nil || n.Report.Etcd == nil,
			Message: fmt.Sprintf("node %s runs an etcd member but lacks the label of control plane nodes, so it would be upgraded as a worker", n.Name),
			Remedy:  fmt.Sprintf("Label the node: `kubectl label node %s node-role.kubernetes.io/control-plane=`", n.Name),
		})
	}
	return found
}

// differences compares a member list with the expected members. An empty list is unknown.
func differences(listed []string, expected map[string]bool) []string {
	if len(listed) == 0 {
		return nil
	}
	var differ []string
	for _, name := range slices.Sorted(slices.Values(listed)) {
		if !expected[name] {
			differ = append(differ, name+" has no control plane node")
		}
	}
	for _, name := range sorted(expected) {
		if !slices.Contains(listed, name) {
			differ = append(differ, name+" is not a member")
		}
	}
	return differ
}
