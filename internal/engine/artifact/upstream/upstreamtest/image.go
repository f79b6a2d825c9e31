package upstreamtest

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// Statement returns what the signature of an image states.
func Statement(tb testing.TB, name, digest string) []byte {
	tb.Helper()
	return encode(tb, object{
		"critical": object{
			"identity": object{"docker-reference": name},
			"image":    object{"docker-manifest-digest": digest},
			"type":     "cosign container image signature",
		},
		"optional": object{"org.kubernetes.kpromo.version": "kpromo-v4.0.4"},
	})
}

// Layer returns a signature of an image as cosign stores it.
func (g *Signature) Layer(tb testing.TB) any {
	tb.Helper()
	return object{
		"mediaType": "application/vnd.dev.cosign.simplesigning.v1+json",
		"digest":    "sha256:" + hex.EncodeToString(g.Digest[:]),
		"size":      0,
		"annotations": map[string]string{
			"dev.cosignproject.cosign/signature": string(g.Sig()),
			"dev.sigstore.cosign/certificate":    string(g.PEM()),
			"dev.sigstore.cosign/chain":          "",
			"dev.sigstore.cosign/bundle":         string(encode(tb, object{"SignedEntryTimestamp": g.Timestamp, "Payload": g.Entry})),
		},
	}
}

// Manifest returns the manifest of the signatures of an image.
func Manifest(tb testing.TB, layers ...any) []byte {
	tb.Helper()
	empty := sha256.Sum256([]byte("{}"))
	return encode(tb, object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": object{"mediaType": "application/vnd.oci.image.config.v1+json", "digest": "sha256:" + hex.EncodeToString(empty[:]), "size": 2},
		"layers": layers,
	})
}
