package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// newCA returns a CA certificate in PEM, of a key.
func newCA(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "kubernetes"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

func newCAKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// The rotation of a CA adds the new one to the bundle first. An upgrade that is open meanwhile must
// be finished.
func TestClusterIsRecognizedByAnyOfItsCAs(t *testing.T) {
	key, other := newCAKey(t), newCAKey(t)
	mine, next := newCA(t, key), newCA(t, other)
	for name, tt := range map[string]struct {
		now  []byte
		same bool
	}{
		"unchanged":                       {mine, true},
		"another CA was added":            {append(append([]byte{}, mine...), next...), true},
		"another CA was added in front":   {append(append([]byte{}, next...), mine...), true},
		"the CA was renewed with its key": {newCA(t, key), true},
		"comments were added":             {append([]byte("# kubernetes\n"), mine...), true},
		"the host joined another cluster": {next, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ca.crt")
			write := func(text []byte) {
				t.Helper()
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(mine)
			var u node.Upgrade
			if err := recordCluster(&u, path); err != nil {
				t.Fatal(err)
			}
			write(tt.now)
			if got := sameCluster(&u, path); got != tt.same {
				t.Errorf("got %t", got)
			}
		})
	}
}

// Without the file nothing is known about the cluster, and an open upgrade may have to restore it.
func TestMissingCADoesNotDropAnUpgrade(t *testing.T) {
	if !sameCluster(&node.Upgrade{CA: "sha256:1", CAs: []string{"sha256:2"}}, filepath.Join(t.TempDir(), "ca.crt")) {
		t.Error("dropped")
	}
}
