package release

import (
	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// NewList lists the ClusterReleases of a cluster and the operations in progress that follow each.
func NewList(cluster string, all []refitv1alpha1.ClusterRelease, operations []refitv1alpha1.ClusterUpgrade) *cliv1alpha1.Releases {
	listed := make([]cliv1alpha1.ListedRelease, 0, len(all))
	for i := range all {
		listed = append(listed, artifact.Listed(&all[i]))
	}
	return progress.NewReleases(cluster, listed, operations)
}
