//go:build e2e

package agent

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// key is the files of a release key.
type key struct{ private, public string }

// newKey makes a key as a person does.
func newKey(t *testing.T, p programs) key {
	t.Helper()
	k := key{private: filepath.Join(t.TempDir(), "release.key")}
	run(t, p.refit, "release", "key", "new", "--out", k.private)
	k.public = strings.TrimSuffix(k.private, ".key") + ".pem"
	return k
}

// sign makes the DSSE envelope of any bytes, also of such as `refit release sign` refuses.
func (k key) sign(t *testing.T, payload []byte) []byte {
	t.Helper()
	text, err := os.ReadFile(k.private)
	must(t, err)
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("%s is no PEM", k.private)
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
