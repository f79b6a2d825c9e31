package cluster

import "slices"

// Node returns the node with this name, or nil.
func (s *Snapshot) Node(name string) *Node {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i]
		}
	}
	return nil
}

// ControlPlane returns the control plane nodes.
func (s *Snapshot) ControlPlane() []*Node { return s.nodes(true) }

// Workers returns the nodes that are not control plane nodes.
func (s *Snapshot) Workers() []*Node { return s.nodes(false) }

func (s *Snapshot) nodes(controlPlane bool) []*Node {
	var out []*Node
	for i := range s.Nodes {
		if s.Nodes[i].ControlPlane == controlPlane {
			out = append(out, &s.Nodes[i])
		}
	}
	return out
}

// APIServer returns the API server of this node, or nil.
func (s *Snapshot) APIServer(node string) *APIServer {
	for i := range s.APIServers {
		if s.APIServers[i].Node == node {
			return &s.APIServers[i]
		}
	}
	return nil
}

// ExternalEtcd is whether etcd is external. Without kubeadm's configuration, it is if the control
// plane has no etcd pods.
func (s *Snapshot) ExternalEtcd() Answer {
	if s.Kubeadm != nil {
		return answer(s.Kubeadm.ExternalEtcd)
	}
	controlPlane := s.ControlPlane()
	if _, gap := s.Gap(PartPods); gap || len(controlPlane) == 0 {
		return Unknown
	}
	return answer(!slices.ContainsFunc(controlPlane, func(n *Node) bool { _, has := n.Static["etcd"]; return has }))
}

// EtcdMembers returns the nodes with an etcd member.
func (s *Snapshot) EtcdMembers() []*Node {
	var out []*Node
	for _, n := range s.ControlPlane() {
		if _, has := n.Static["etcd"]; has || (n.Report != nil && n.Report.Etcd != nil) {
			out = append(out, n)
		}
	}
	return out
}

func answer(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}
