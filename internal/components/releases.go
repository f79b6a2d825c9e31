package components

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// releases are the ClusterReleases of the cluster.
type releases struct {
	verified []verified
	refused  []string         // each with the reason
	unsigned []refusedRelease // those of the refused ones that can be read
}

// refusedRelease is a ClusterRelease that is not signed as it should be. Its content is not
// trusted: it only shows what the ClusterRelease would offer.
type refusedRelease struct {
	verified
	cause string
}

func newRefused(release *refitv1alpha1.ClusterRelease, cause string) (refusedRelease, bool) {
	opened, err := artifact.Unverified(release.Spec.Envelope)
	if err != nil || !fullVersion.MatchString(opened.Payload.Kubernetes) || len(release.Spec.Components) == 0 {
		return refusedRelease{}, false
	}
	found, err := artifact.UnverifiedComponents(release.Spec.Components, opened.Digest)
	if err != nil {
		return refusedRelease{}, false
	}
	return refusedRelease{cause: cause, verified: verified{
		ref: refitv1alpha1.ReleaseRef{Name: release.Name, Digest: opened.Digest}, kubernetes: opened.Payload.Kubernetes, components: found.List,
	}}, true
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
			cause := fmt.Sprintf("ClusterRelease %s: %s", list.Items[i].Name, node.FailureOf(err).Text())
			out.refused = append(out.refused, cause)
			if read, is := newRefused(&list.Items[i], cause); is {
				out.unsigned = append(out.unsigned, read)
			}
			continue
		}
		out.verified = append(out.verified, signed)
	}
	slices.SortStableFunc(out.verified, func(a, b verified) int {
		return cmp.Or(compareVersions(a.kubernetes, b.kubernetes), strings.Compare(a.ref.Name, b.ref.Name))
	})
	known := installedAsOf(out)
	r.known.Store(&known)
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

// byHelmRelease returns one version of each Helm release that versions are installed as, the newest
// first.
func byHelmRelease(versions []refitv1alpha1.ReleaseComponent) (out []refitv1alpha1.ReleaseComponent) {
	for i := range slices.Backward(versions) {
		if !slices.ContainsFunc(out, func(c refitv1alpha1.ReleaseComponent) bool { return c.Release == versions[i].Release }) {
			out = append(out, versions[i])
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
