package preflight

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// configurationEdited: what the owner of a cluster has set survives a ClusterRelease.
func configurationEdited(v *view) []Finding {
	if v.s.Kubeadm == nil || !v.movesControlPlane() {
		return nil
	}
	var releases []*cluster.Release
	for _, h := range v.ahead {
		if h.release != nil {
			releases = append(releases, h.release)
		}
	}
	var found []Finding
	for i, result := range signedconfig.Along(v.s.Kubeadm, releases) {
		if len(result.Kept) == 0 {
			continue
		}
		found = append(found, Finding{
			Object: kubeadmConfig,
			Message: fmt.Sprintf("ClusterRelease %s sets %s, but the kubeadm configuration has another value, which was not set by a ClusterRelease: it stays",
				releases[i].Name, phrase.List(result.Kept.Texts())),
			Remedy: "No action is required to keep your value. To use that of the ClusterRelease, remove the field: " + editKubeadm,
		})
	}
	return found
}
