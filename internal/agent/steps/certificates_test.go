package steps

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// putPair writes a certificate and its key.
func putPair(t *testing.T, path string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	put(t, path+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	put(t, path+".key", string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})))
}

// certificateHost is a control plane node with two certificates of its own CAs. Its kubeadm copies
// the next key, then, unless it is told to die in between, the next certificate.
func certificateHost(t *testing.T) (h *Host, pki, calls string) {
	t.Helper()
	inManifestsDir(t)
	h, pki = testHost(t), t.TempDir()
	h.Upgrade.Role = refitv1alpha1.RoleControlPlane
	next := t.TempDir()
	for _, name := range []string{"ca", "front-proxy-ca", "apiserver", "front-proxy-client"} {
		putPair(t, filepath.Join(pki, name))
		putPair(t, filepath.Join(next, name))
	}
	server := strings.Replace(podOf(kubeadm.APIServer, "v1.35.4"), "metadata: {",
		"metadata: {annotations: {kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: '10.0.0.1:6443'}, ", 1)
	for _, component := range kubeadm.Components() {
		put(t, manifest(component), podOf(component, "v1.35.4"))
	}
	put(t, manifest(kubeadm.APIServer), server)
	must(t, host.Save(h.path("saved"), savedPaths()))
	must(t, h.writeJSON(clusterConfigFile, map[string]string{"ClusterConfiguration": externalEtcd + "certificatesDir: " + pki + "\n"}))
	calls = fakeKubeadm(t, h, "test -e "+next+"/$3.crt || exit 0\ncp "+next+"/$3.key "+pki+"/$3.key\n"+
		"test -e "+next+"/die-in-$3 && exit 1\ncp "+next+"/$3.crt "+pki+"/$3.crt\n")
	put(t, filepath.Join(pki, "next"), next)
	return h, pki, calls
}

// tear makes kubeadm end between the key and the certificate of the front proxy, or not any more.
func tear(t *testing.T, pki string, die bool) {
	t.Helper()
	next, err := os.ReadFile(filepath.Join(pki, "next"))
	must(t, err)
	marker := filepath.Join(string(next), "die-in-front-proxy-client")
	if die {
		put(t, marker, "")
		return
	}
	must(t, os.Remove(marker))
}

func fits(pki, name string) bool {
	_, err := tls.LoadX509KeyPair(filepath.Join(pki, name+".crt"), filepath.Join(pki, name+".key"))
	return err == nil
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func renewals(t *testing.T, calls, name string) (n int) {
	t.Helper()
	for _, call := range callsIn(t, calls) {
		if strings.HasPrefix(call, "certs renew "+name+" ") {
			n++
		}
	}
	return n
}

// kubeadm writes a key, then its certificate. Repeating the step must not renew what is renewed.
func TestInterruptedRenewalIsFinished(t *testing.T) {
	h, pki, calls := certificateHost(t)
	tear(t, pki, true)
	if err := renewCertificates(t.Context(), h); err == nil {
		t.Fatal("the renewal succeeded")
	}
	if fits(pki, "front-proxy-client") || !fits(pki, "apiserver") {
		t.Fatal("the renewal was not interrupted between a key and its certificate")
	}
	renewed := textOf(t, filepath.Join(pki, "apiserver.crt"))
	tear(t, pki, false)
	for range 2 {
		must(t, renewCertificates(t.Context(), h))
	}
	if !fits(pki, "front-proxy-client") || textOf(t, filepath.Join(pki, "apiserver.crt")) != renewed {
		t.Error("the renewal was not finished")
	}
	if renewals(t, calls, "apiserver") != 1 || renewals(t, calls, "front-proxy-client") != 2 {
		t.Errorf("kubeadm ran %q", callsIn(t, calls))
	}
}

// A rollback restores no certificate, and repairs only the pair that the renewal has torn.
func TestRollbackRepairsATornCertificate(t *testing.T) {
	h, pki, calls := certificateHost(t)
	tear(t, pki, true)
	if err := renewCertificates(t.Context(), h); err == nil {
		t.Fatal("the renewal succeeded")
	}
	renewed, authority := textOf(t, filepath.Join(pki, "apiserver.crt")), textOf(t, filepath.Join(pki, "ca.crt"))
	tear(t, pki, false)
	must(t, os.Remove(manifest(kubeadm.APIServer))) // during a swap
	for range 2 {
		if err := repairCertificates(t.Context(), h); !errors.Is(err, node.ErrKept) {
			t.Fatalf("error %v", err)
		}
	}
	if !fits(pki, "front-proxy-client") || textOf(t, filepath.Join(pki, "apiserver.crt")) != renewed || textOf(t, filepath.Join(pki, "ca.crt")) != authority {
		t.Error("another certificate was changed, or the torn one was not repaired")
	}
	if renewals(t, calls, "apiserver") != 1 || renewals(t, calls, "front-proxy-client") != 2 {
		t.Errorf("kubeadm ran %q", callsIn(t, calls))
	}
}

// A rollback before the renewal must not touch the certificates.
func TestRollbackWithoutARenewalChangesNoCertificate(t *testing.T) {
	h, pki, calls := certificateHost(t)
	was := textOf(t, filepath.Join(pki, "apiserver.crt"))
	if err := repairCertificates(t.Context(), h); !errors.Is(err, node.ErrKept) {
		t.Fatalf("error %v", err)
	}
	if textOf(t, filepath.Join(pki, "apiserver.crt")) != was || len(callsIn(t, calls)) > 0 {
		t.Errorf("kubeadm ran %q", callsIn(t, calls))
	}
}
