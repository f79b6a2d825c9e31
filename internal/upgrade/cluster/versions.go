package cluster

import "github.com/refit-dev/refit/internal/upgrade/skew"

// APIServerVersion is the version of a node's API server: as the server, else its agent, else the
// image of its pod reports it. It is zero if none of them does.
func (s *Snapshot) APIServerVersion(n *Node) skew.Version {
	reported := make([]string, 0, 3)
	if server := s.APIServer(n.Name); server != nil {
		reported = append(reported, server.Version)
	}
	if n.Report != nil && n.Report.APIServer != nil {
		reported = append(reported, n.Report.APIServer.Version)
	}
	reported = append(reported, n.Static["kube-apiserver"].Version)
	for _, text := range reported {
		if v, err := skew.Parse(text); err == nil {
			return v
		}
	}
	return skew.Version{}
}
