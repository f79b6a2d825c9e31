package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// releasesPerPage is small: a ClusterRelease lists every file and image.
const releasesPerPage = 50

func (obs *observation) readReleases(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "clusterreleases"
	releases := rawLister[refitv1alpha1.ClusterRelease](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: releasesPerPage}, releases,
		func(page *rawPage[refitv1alpha1.ClusterRelease]) error {
			for i := range page.Items {
				obs.snapshot.Releases = append(obs.snapshot.Releases, releaseOf(&page.Items[i]))
			}
			return nil
		})
}

// Release decodes a ClusterRelease, for controllers that need no Snapshot.
func Release(r *refitv1alpha1.ClusterRelease) cluster.Release { return releaseOf(r) }

// releaseOf decodes a ClusterRelease. Only agents verify the signature: the keys are pinned on the
// hosts.
func releaseOf(r *refitv1alpha1.ClusterRelease) cluster.Release {
	out := cluster.Release{Name: r.Name}
	payload, version, err := openEnvelope(r.Spec.Envelope)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.PayloadVersion = version
	digest := sha256.Sum256(payload)
	out.Digest = "sha256:" + hex.EncodeToString(digest[:])
	if err := json.Unmarshal(payload, &out.Payload); err != nil {
		out.Error = fmt.Sprintf("cannot parse the signed payload: %v", err)
		return out
	}
	signed, needed := out.Payload.Kubernetes, out.Payload.Version()
	switch {
	case signed != r.Spec.Kubernetes:
		out.Error = fmt.Sprintf("spec.kubernetes is %q, but the signed version is %q", r.Spec.Kubernetes, signed)
	case needed > version: // agents refuse it
		out.Error = fmt.Sprintf("the signed payload needs version %d, but the envelope has version %d", needed, version)
	}
	if len(r.Spec.Components) > 0 {
		components, err := openComponents(r.Spec.Components, out.Digest)
		if out.Components = components; err != nil {
			out.ComponentsError = err.Error()
		}
	}
	return out
}

// openComponents decodes the components of a ClusterRelease. Only refit-components verifies their
// signature.
func openComponents(raw []byte, release string) ([]refitv1alpha1.ReleaseComponent, error) {
	e, err := parseEnvelope(raw)
	if err != nil {
		return nil, err
	}
	if e.PayloadType != refitv1alpha1.ComponentsPayloadType {
		return nil, fmt.Errorf("the envelope of the components contains %q, not %s", e.PayloadType, refitv1alpha1.ComponentsPayloadType)
	}
	var payload refitv1alpha1.ComponentsPayload
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return nil, fmt.Errorf("cannot parse the signed components: %w", err)
	}
	if payload.Release != release {
		return nil, fmt.Errorf("the components are signed for the release %s, not for %s", payload.Release, release)
	}
	return payload.Components, nil
}

// openEnvelope returns the payload of a DSSE envelope, and its version.
func openEnvelope(raw []byte) (payload []byte, version int32, err error) {
	e, err := parseEnvelope(raw)
	if err != nil {
		return nil, 0, err
	}
	if version = refitv1alpha1.PayloadVersion(e.PayloadType); version == 0 {
		return nil, 0, fmt.Errorf("the envelope contains %q, not a ClusterRelease up to version %d (%s)", e.PayloadType,
			refitv1alpha1.MaxPayloadVersion, refitv1alpha1.PayloadType(refitv1alpha1.MaxPayloadVersion))
	}
	return e.Payload, version, nil
}

// envelope is a DSSE envelope.
type envelope struct {
	PayloadType string            `json:"payloadType"`
	Payload     []byte            `json:"payload"` // encoding/json decodes the base64
	Signatures  []json.RawMessage `json:"signatures"`
}

func parseEnvelope(raw []byte) (envelope, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("cannot parse the envelope: %w", err)
	}
	if len(e.Signatures) == 0 {
		return e, errors.New("the envelope is not signed")
	}
	return e, nil
}
