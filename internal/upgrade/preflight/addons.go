package preflight

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// addonImagesNotPrefetched reports workers outside the upgrade, on which kube-proxy and CoreDNS of
// the target start as well. Only nodes of the upgrade get images that the ClusterRelease has as
// files, and a cluster with such a ClusterRelease often has no registry to pull them from.
func addonImagesNotPrefetched(v *view) []Finding {
	if !v.movesControlPlane() || len(v.ahead) == 0 {
		return nil
	}
	images := archivedAddons(v.ahead[len(v.ahead)-1].release)
	var outside []string
	for i := range v.nodes {
		if n := &v.nodes[i]; n.leftOut && policy.Pooled(n.Node) && !policy.Abandoned(&v.Spec, n.Name) {
			outside = append(outside, n.Name)
		}
	}
	if len(images) == 0 || len(outside) == 0 {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("kube-proxy and CoreDNS of %s also start on %s, where the upgrade does not prefetch their images",
			v.ahead[len(v.ahead)-1], joinNames(outside)),
		Remedy: fmt.Sprintf("On each of these nodes, run %s. If one cannot pull, import the archives of the ClusterRelease: %s. "+
			"Or include the nodes in the upgrade.",
			command("crictl pull "+strings.Join(images, "; crictl pull ")), command("ctr -n k8s.io images import FILE")),
	}}
}

// archivedAddons are the images of kube-proxy and CoreDNS that a ClusterRelease has as files.
func archivedAddons(release *cluster.Release) []string {
	if release == nil {
		return nil
	}
	var out []string
	for _, image := range release.Payload.Images {
		name, _, _ := strings.Cut(path.Base(image.Name), ":")
		if image.Archive != nil && (name == "kube-proxy" || name == "coredns") {
			out = append(out, image.Name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}
