package components

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// releases are the ClusterReleases of the cluster.
type releases struct {
	verified []verified
	refused  []string // each with the reason
}

// releases reads all ClusterReleases, the oldest Kubernetes version first.
func (r *Reconciler) releases(ctx context.Context) (out releases, err error) {
	var list refitv1alpha1.ClusterReleaseList
	if err := r.client.List(ctx, &list); err != nil {
		return out, fmt.Errorf("cannot list ClusterReleases: %w", err)
	}
	for i := range list.Items {
		signed, err := r.source.verify(&list.Items[i])
		if err != nil {
			out.refused = append(out.refused, fmt.Sprintf("ClusterRelease %s: %s", list.Items[i].Name, node.FailureOf(err).Text()))
			continue
		}
		out.verified = append(out.verified, signed)
	}
	slices.SortStableFunc(out.verified, func(a, b verified) int {
		return cmp.Or(compareVersions(a.kubernetes, b.kubernetes), strings.Compare(a.ref.Name, b.ref.Name))
	})
	return out, nil
}

func compareVersions(a, b string) int {
	x, errX := version.ParseGeneric(a)
	y, errY := version.ParseGeneric(b)
	switch {
	case errX != nil || errY != nil:
		return strings.Compare(a, b)
	case x.LessThan(y):
		return -1
	case y.LessThan(x):
		return 1
	}
	return 0
}

// signedVersions returns the versions of a component, that of the newest Kubernetes last.
func signedVersions(name string, all releases) (out []refitv1alpha1.ReleaseComponent) {
	for _, release := range all.verified {
		for i := range release.components {
			if release.components[i].Name == name {
				out = append(out, release.components[i])
			}
		}
	}
	return out
}

// targetOf returns the last version of a component in a ClusterRelease.
func targetOf(release verified, name string) (target refitv1alpha1.ReleaseComponent) {
	for i := range release.components {
		if release.components[i].Name == name {
			target = release.components[i]
		}
	}
	return target
}
