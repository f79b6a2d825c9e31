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

// For returns the files of some parts of a host. It fails if the ClusterRelease has no file of a
// part.
func (r Release) For(os, arch string, parts ...refitv1alpha1.PartFacts) ([]refitv1alpha1.ReleaseFile, error) {
	var out []refitv1alpha1.ReleaseFile
	var missing []string
	for _, part := range parts {
		files := node.FilesOf(r.Payload, os, arch, part)
		if len(files) == 0 {
			missing = append(missing, node.DescribePart(part))
		}
		out = append(out, files...)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, r.lacks(os, arch, strings.Join(missing, ", "))
	}
	return out, nil
}

// RequireImages fails if the ClusterRelease has an image that a host needs for other platforms
// only: the host would have to pull it during its upgrade. An upgrade that is past its prefetch
// must not depend on it: an earlier agent may have started it.
func (r Release) RequireImages(os, arch string, controlPlane bool) error {
	if _, missing := node.ImagesOf(r.Payload, os, arch, controlPlane); len(missing) > 0 {
		return r.lacks(os, arch, "image "+strings.Join(missing, ", "))
	}
	return nil
}

func (r Release) lacks(os, arch, missing string) error {
	return node.ManualIntervention("NotInRelease", nil, "Create a ClusterRelease that has it (`refit release create`), sign it, and plan again",
		"the ClusterRelease of Kubernetes %s has no %s for %s/%s hosts", r.Payload.Kubernetes, missing, os, arch)
}
