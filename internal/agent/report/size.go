package report

import (
	"encoding/json"
	"maps"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	// maxReport is the maximum size of a NodeReport as the API server returns it.
	maxReport = 8 << 10
	// objectOverhead is what the API server adds to a status: its metadata and managed fields, less
	// the two names of the node.
	objectOverhead = 1536
)

// shortenable is a list that can lose its last entry.
type shortenable struct {
	name   string
	keep   int // how many entries always remain: none at all would look like a healthy host
	length func() int
	drop   func()
}

// fit drops entries until the status has at most this many bytes, those that decisions need least
// first.
func (c *cutter) fit(s *refitv1alpha1.NodeReportStatus, most int) {
	update := func() { s.Truncated = c.names }
	update()
	for _, list := range shortenables(s) {
		for list.length() > list.keep && sizeOf(s) > most {
			c.record(list.name)
			list.drop()
			update()
		}
	}
}

func sizeOf(s *refitv1alpha1.NodeReportStatus) int {
	raw, err := json.Marshal(s)
	if err != nil {
		return 0 // a status always has a JSON form
	}
	return len(raw)
}

// shortenables are the lists of a status, in the order in which they lose entries. Most fields of a
// kubelet's configuration are in the cluster's as well, which is checked without a report.
func shortenables(s *refitv1alpha1.NodeReportStatus) []shortenable {
	lists := []shortenable{of("missingImages", 1, &s.MissingImages)}
	if d := s.Drift; d != nil {
		lists = append(lists, of("drift.differences", 1, &d.Differences))
	}
	if k := s.Kubelet; k != nil {
		lists = append(lists, of("kubelet.configFields", 1, &k.ConfigFields))
	}
	lists = append(lists, partFilesOf(s), of("heldPackages", 1, &s.HeldPackages), of("readOnlyPaths", 1, &s.ReadOnlyPaths))
	if d := s.Drift; d != nil {
		lists = append(lists, of("drift.apiReferences", 1, &d.APIReferences), of("drift.unparsableManifests", 1, &d.UnparsableManifests),
			of("drift.securitySettings", 1, &d.SecuritySettings), of("drift.missingManifests", 1, &d.MissingManifests))
	}
	lists = append(lists, of("parts", 0, &s.Parts), of("virtualIPs", 1, &s.VirtualIPs),
		of("addresses", 1, &s.Addresses), of("disks", 1, &s.Disks), of("certificates", 1, &s.Certificates))
	if k := s.Kubelet; k != nil {
		lists = append(lists, gatesOf(k), of("kubelet.flags", 1, &k.Flags))
	}
	lists = append(lists, of("releaseKeys", 1, &s.ReleaseKeys))
	if e := s.Etcd; e != nil {
		lists = append(lists, of("etcd.members", 1, &e.Members))
	}
	if e := s.ExternalEtcd; e != nil {
		lists = append(lists, of("externalEtcd.members", 1, &e.Members))
	}
	return lists
}

func of[T any](name string, keep int, list *[]T) shortenable {
	return shortenable{
		name: name, keep: keep, length: func() int { return len(*list) },
		drop: func() { *list = slices.Clone((*list)[:len(*list)-1]) },
	}
}

// partFilesOf are the lists of binaries of the parts. Without one, a ClusterRelease for the host
// has more plugins than it needs; without its part, the part looks as if it were installed like
// the kubelet.
func partFilesOf(s *refitv1alpha1.NodeReportStatus) shortenable {
	listed := func(p refitv1alpha1.PartFacts) bool { return len(p.Files) > 0 }
	return shortenable{
		name: "parts.files",
		length: func() (n int) {
			for _, part := range s.Parts {
				n += len(part.Files)
			}
			return n
		},
		drop: func() { // the whole list of a part: some of them would look like all
			s.Parts = slices.Clone(s.Parts)
			s.Parts[slices.IndexFunc(s.Parts, listed)].Files = nil
		},
	}
}

func gatesOf(k *refitv1alpha1.KubeletFacts) shortenable {
	return shortenable{
		name: "kubelet.featureGates", keep: 1, length: func() int { return len(k.FeatureGates) },
		drop: func() {
			names := slices.Sorted(maps.Keys(k.FeatureGates))
			k.FeatureGates = maps.Clone(k.FeatureGates)
			delete(k.FeatureGates, names[len(names)-1])
		},
	}
}
