package components

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// source reads signed content, with the keys that are pinned now.
type source struct {
	reader client.Reader // from the API server
	keys   string        // directory
}

// verified is a ClusterRelease whose signatures are verified.
type verified struct {
	ref        refitv1alpha1.ReleaseRef
	kubernetes string
	components []refitv1alpha1.ReleaseComponent
	form       *refitv1alpha1.ComponentForm // nil if there is none
}

// verify verifies both envelopes of a ClusterRelease.
func (s *source) verify(release *refitv1alpha1.ClusterRelease) (verified, error) {
	keys, err := artifact.LoadKeys(s.keys)
	if err != nil {
		return verified{}, err
	}
	signed, err := artifact.Verify(release.Spec.Envelope, keys)
	if err != nil {
		return verified{}, err
	}
	if signed.Payload.Kubernetes != release.Spec.Kubernetes {
		return verified{}, node.ManualIntervention("SignatureInvalid", nil, "Apply the ClusterRelease as it was signed",
			"the spec of ClusterRelease %s has version %s, but the signed payload has %s", release.Name, release.Spec.Kubernetes, signed.Payload.Kubernetes)
	}
	out := verified{ref: refitv1alpha1.ReleaseRef{Name: release.Name, Digest: signed.Digest}, kubernetes: signed.Payload.Kubernetes}
	if len(release.Spec.Components) == 0 {
		return out, nil
	}
	found, err := artifact.VerifyComponents(release.Spec.Components, signed.Digest, keys)
	out.components, out.form = found.List, found.Form
	return out, err
}

// component returns the version of a component that an order names.
func (s *source) component(ctx context.Context, name string, order *refitv1alpha1.ComponentOrder) (refitv1alpha1.ReleaseComponent, error) {
	var release refitv1alpha1.ClusterRelease
	if err := s.reader.Get(ctx, client.ObjectKey{Name: order.Release.Name}, &release); err != nil {
		if apierrors.IsNotFound(err) {
			return refitv1alpha1.ReleaseComponent{}, node.ManualIntervention(refitv1alpha1.ReasonReleaseMissing, err,
				"Add the ClusterRelease to the cluster, then run `refit retry`", "the ClusterRelease does not exist")
		}
		return refitv1alpha1.ReleaseComponent{}, err
	}
	signed, err := s.verify(&release)
	if err != nil {
		return refitv1alpha1.ReleaseComponent{}, refused(order.Release.Name, err)
	}
	if signed.ref.Digest != order.Release.Digest {
		return refitv1alpha1.ReleaseComponent{}, node.ManualIntervention(refitv1alpha1.ReasonPlanChanged, nil, "Run `refit plan` again and approve it",
			"ClusterRelease %s has the digest %s, but the order names %s", order.Release.Name, signed.ref.Digest, order.Release.Digest)
	}
	at := slices.IndexFunc(signed.components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name && c.Version == order.Version })
	if at < 0 {
		return refitv1alpha1.ReleaseComponent{}, node.ManualIntervention("ComponentMissing", nil, "Run `refit plan` again",
			"ClusterRelease %s does not have %s %s", order.Release.Name, name, order.Version)
	}
	return signed.components[at], nil
}

// refused is the failure of a ClusterRelease that is not signed as it should be. One that lacks
// keys keeps its own reason.
func refused(name string, err error) error {
	f := node.FailureOf(err)
	return node.ManualIntervention("SignatureInvalid", errors.New(f.Text()), f.Remedy, "ClusterRelease %s is refused", name)
}

// chart reads a chart and verifies its digest.
func (s *source) chart(ctx context.Context, chart refitv1alpha1.ComponentChart) ([]byte, error) {
	archive, err := charts.Get(ctx, s.reader, chart)
	if errors.Is(err, charts.ErrMissing) || errors.Is(err, charts.ErrOther) {
		return nil, node.ManualIntervention("ChartMissing", err,
			offer.RemedyChartMissing+"; then run `refit retry`", "the chart is not in the cluster")
	}
	return archive, err
}

// clusterVersion returns the version of Kubernetes that the API server runs.
func clusterVersion(d discovery.ServerVersionInterface) (string, error) {
	version, err := d.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("cannot read the version of the API server: %w", err)
	}
	return version.GitVersion, nil
}
