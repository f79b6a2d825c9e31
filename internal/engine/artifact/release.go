package artifact

import (
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Release is a ClusterRelease whose signature is verified.
type Release struct {
	Payload refitv1alpha1.ReleasePayload
	// Digest is the digest of the payload, by which a plan identifies a ClusterRelease.
	Digest string
	// KeyID is the key that signed it.
	KeyID string
}

// For returns the files of some parts for a host. It fails if the ClusterRelease has no file of a
// part.
func (r Release) For(os, arch string, kind refitv1alpha1.PackageKind, parts []refitv1alpha1.Part) ([]refitv1alpha1.ReleaseFile, error) {
	var out []refitv1alpha1.ReleaseFile
	var missing []string
	for _, part := range parts {
		before := len(out)
		for _, file := range r.Payload.Files {
			if file.Part == part && file.OS == os && file.Arch == arch && file.Kind == kind {
				out = append(out, file)
			}
		}
		if len(out) == before {
			missing = append(missing, string(part))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, node.ManualIntervention("NotInRelease", nil, "create a ClusterRelease that has it (refit release create), sign it, and plan again",
			"the ClusterRelease of Kubernetes %s has no %s for %s/%s hosts of kind %s", r.Payload.Kubernetes, strings.Join(missing, ", "), os, arch, kind)
	}
	return out, nil
}

// ImagesFor returns the images that a host needs.
func (r Release) ImagesFor(os, arch string, controlPlane bool) []refitv1alpha1.ReleaseImage {
	var out []refitv1alpha1.ReleaseImage
	for _, image := range r.Payload.Images {
		if image.OS == os && image.Arch == arch && (controlPlane || !image.ControlPlane) {
			out = append(out, image)
		}
	}
	return out
}
