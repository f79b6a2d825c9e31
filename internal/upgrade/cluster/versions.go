package cluster

import "github.com/refit-dev/refit/internal/upgrade/skew"

// APIServerVersion is the version of a node's API server: what the server itself said, else what its agent or its pod's image says. It is zero if none of
// them tells one.
func (s *Snapshot) APIServerVersion(n *Node) skew.Version {
	said := make([]string, 0, 3)
	if server := s.APIServer(n.Name); server != nil {
		said = append(said, server.Version)
	}
	if n.Report != nil && n.Report.APIServer != nil {
		said = append(said, n.Report.APIServer.Version)
	}
	said = append(said, n.Static["kube-apiserver"].Version)
	for _, text := range said {
		if v, err := skew.Parse(text); err == nil {
			return v
		}
	}
	return skew.Version{}
}
