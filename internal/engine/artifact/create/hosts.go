package create

import (
	"context"
	"fmt"
	"maps"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Host is a host that the ClusterRelease is for, as its agent reports it.
type Host struct {
	Name, Arch string
	Parts      []refitv1alpha1.PartFacts
}

// checkHosts fails if a host needs a part that the ClusterRelease has for other hosts only: the
// preflight checks would block an upgrade of that host, and the ClusterRelease is immutable.
func (m *builder) checkHosts(context.Context) error {
	if m.Online == nil {
		return nil
	}
	hosts := map[string][]string{} // by what they lack
	for _, h := range m.Online.Hosts {
		for _, part := range node.MissingParts(m.payload, "linux", h.Arch, h.Parts) {
			lacked := part + " for linux/" + h.Arch
			hosts[lacked] = append(hosts[lacked], h.Name)
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	var missing []string
	for _, lacked := range slices.Sorted(maps.Keys(hosts)) {
		missing = append(missing, fmt.Sprintf("no %s, which %s (%s)", lacked, countHosts(len(hosts[lacked])), phrase.Fold(hosts[lacked], 4)))
	}
	return fmt.Errorf("found %s. Add the files with --from DIRECTORY, omit the part, or select the hosts with --kind and --arch", phrase.List(missing))
}

func countHosts(n int) string {
	if n == 1 {
		return "1 host of the cluster needs"
	}
	return phrase.Count(n, "host") + " of the cluster need"
}
