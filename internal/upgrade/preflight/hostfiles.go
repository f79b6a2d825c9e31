package preflight

import (
	"cmp"
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	hostparts "github.com/refit-dev/refit/internal/upgrade/node"
)

// notInRelease predicts the refusal of the agents: each part of a host needs a file of its own kind
// in the ClusterRelease of every hop, and each image of the ClusterRelease must have its platform.
// A host that is not upgraded gets images of components only.
func notInRelease(v *view) []Finding {
	return v.onFetching(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		arch := cmp.Or(r.Arch, n.Arch)
		for _, h := range v.hopsOf(n) {
			missing := missingParts(h, n, arch, hostparts.ReportedParts(r))
			if len(missing) == 0 {
				continue
			}
			return Finding{
				Message: fmt.Sprintf("ClusterRelease %s has no %s for linux/%s hosts, but %s needs %s",
					h.release.Name, strings.Join(missing, ", "), arch, n.Name, pronoun(missing)),
				Remedy: orLeaveOut(n, fmt.Sprintf("Create a ClusterRelease that has %s (%s), sign and apply it.",
					pronoun(missing), command("refit release create"))),
			}
		}
		return Finding{}
	})
}

// missingParts returns the parts and images of a host that the ClusterRelease of a hop lacks.
func missingParts(h hop, n *node, arch string, installed []refitv1alpha1.PartFacts) []string {
	if h.release == nil || len(installed) == 0 { // PackageKindUnknown reports a host without a known kind
		return nil
	}
	payload := h.release.Payload
	var missing []string
	if n.touched {
		missing = hostparts.MissingParts(payload, "linux", arch, installed)
	} else {
		payload = hostparts.WithoutKubernetesImages(payload)
	}
	_, images := hostparts.ImagesOf(payload, "linux", arch, n.ControlPlane)
	for _, image := range images {
		missing = append(missing, "image "+image)
	}
	return missing
}
