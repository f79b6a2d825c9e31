//go:build e2e

package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
)

// signed applies a ClusterRelease with any payload, even one that `refit release create` never
// produces, signed with this key.
func (b *agents) signed(t *testing.T, name string, p refitv1alpha1.ReleasePayload, k bed.Key) *bed.Release {
	t.Helper()
	payload, err := json.Marshal(p)
	must(t, err)
	r := &bed.Release{Payload: p}
	r.Ref = refitv1alpha1.ReleaseRef{Name: name, Digest: bed.DigestOf(payload)}
	must(t, b.writeRelease(t.Context(), name, p.Kubernetes, sign(t, k, payload)))
	return r
}

func (b *agents) writeRelease(ctx context.Context, name, version string, envelope []byte) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&refitv1alpha1.ClusterRelease{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ClusterRelease"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       refitv1alpha1.ClusterReleaseSpec{Kubernetes: version, Envelope: envelope},
	})
	if err != nil {
		return err
	}
	_, err = b.Objects.Resource(bed.Releases).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	return err
}

// without returns the payload without these parts.
func without(p refitv1alpha1.ReleasePayload, parts ...refitv1alpha1.Part) refitv1alpha1.ReleasePayload {
	var kept []refitv1alpha1.ReleaseFile
	for _, f := range p.Files {
		if !slices.Contains(parts, f.Part) {
			kept = append(kept, f)
		}
	}
	p.Files = kept
	for _, part := range parts {
		switch part {
		case refitv1alpha1.PartContainerd:
			p.Containerd = ""
		case refitv1alpha1.PartRunc:
			p.Runc = ""
		case refitv1alpha1.PartCNI:
			p.CNIPlugins = ""
		default:
		}
	}
	return p
}

// sign creates the DSSE envelope of any payload, even of one that `refit release sign` rejects.
func sign(t *testing.T, k bed.Key, payload []byte) []byte {
	t.Helper()
	text, err := os.ReadFile(k.Private)
	must(t, err)
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("%s is no PEM", k.Private)
	}
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	must(t, err)
	signed := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(refitv1alpha1.ReleasePayloadType), refitv1alpha1.ReleasePayloadType, len(payload), payload)
	envelope, err := json.Marshal(map[string]any{
		"payloadType": refitv1alpha1.ReleasePayloadType,
		"payload":     base64.StdEncoding.EncodeToString(payload),
		"signatures":  []map[string]string{{"sig": base64.StdEncoding.EncodeToString(ed25519.Sign(private.(ed25519.PrivateKey), signed))}},
	})
	must(t, err)
	return envelope
}
