package agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
)

// Pruning marks the backups of the node, whatever the name of the host is.
func TestNodeNameIsThatOfTheKubelet(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "system:node:rack-7-cp-2"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	data := func(kind string, raw []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
	}
	file := filepath.Join(t.TempDir(), "kubelet.conf")
	if got := kubeletNode(file); got != hostName() {
		t.Errorf("without a kubeconfig: %q", got)
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: x
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
`, data("CERTIFICATE", der), data("PRIVATE KEY", key))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := kubeletNode(file); got != "rack-7-cp-2" {
		t.Errorf("got %q", got)
	}
}
