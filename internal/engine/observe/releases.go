package observe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// releasesPerPage is small: a ClusterRelease lists every file and image.
const releasesPerPage = 50

func (g *gathering) readReleases(ctx context.Context) error {
	if g.refit != nil {
		return g.refit
	}
	const resource = "clusterreleases"
	releases := rawLister[refitv1alpha1.ClusterRelease](g.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: releasesPerPage}, releases,
		func(page *rawPage[refitv1alpha1.ClusterRelease]) error {
			for i := range page.Items {
				g.snapshot.Releases = append(g.snapshot.Releases, releaseOf(&page.Items[i]))
			}
			return nil
		})
}

// releaseOf opens a ClusterRelease. Whether the signature is good is for the agents to say: the keys are pinned on the hosts.
func releaseOf(r *refitv1alpha1.ClusterRelease) cluster.Release {
	out := cluster.Release{Name: r.Name}
	payload, err := openEnvelope(r.Spec.Envelope)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	digest := sha256.Sum256(payload)
	out.Digest = "sha256:" + hex.EncodeToString(digest[:])
	if err := json.Unmarshal(payload, &out.Payload); err != nil {
		out.Error = fmt.Sprintf("its signed payload cannot be read: %v", err)
		return out
	}
	if signed := out.Payload.Kubernetes; signed != r.Spec.Kubernetes {
		out.Error = fmt.Sprintf("spec.kubernetes says %q, but what was signed says %q", r.Spec.Kubernetes, signed)
	}
	return out
}

// openEnvelope takes the payload out of a DSSE envelope.
func openEnvelope(raw []byte) ([]byte, error) {
	var envelope struct {
		PayloadType string            `json:"payloadType"`
		Payload     []byte            `json:"payload"` // base64 in JSON, which encoding/json undoes
		Signatures  []json.RawMessage `json:"signatures"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, fmt.Errorf("its envelope cannot be read: %w", err)
	}
	if envelope.PayloadType != refitv1alpha1.ReleasePayloadType {
		return nil, fmt.Errorf("its envelope holds %q, not a ClusterRelease (%s)", envelope.PayloadType, refitv1alpha1.ReleasePayloadType)
	}
	if len(envelope.Signatures) == 0 {
		return nil, fmt.Errorf("its envelope is not signed")
	}
	return envelope.Payload, nil
}
