package release

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// Content returns the document about a ClusterRelease.
func Content(name, trust string, r artifact.Release) cliv1alpha1.ReleaseContent {
	return cliv1alpha1.ReleaseContent{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindReleaseContent,
		Name: name, Digest: r.Digest, KeyID: r.KeyID, Trust: trust, Content: r.Payload,
	}
}
