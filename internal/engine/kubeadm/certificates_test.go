package kubeadm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// authority is a test CA.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// sign creates a certificate in PEM with its key.
func (a *authority) sign(t *testing.T, name string, isCA bool) (certificate, key []byte) {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name, Organization: []string{"test"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: isCA, BasicConstraintsValid: isCA,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	signer := made
	parent := template
	if isCA {
		template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageCertSign, nil
	} else {
		parent, signer = a.certificate, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, made.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	if isCA {
		a.key = made
		if a.certificate, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
	}
	private, err := x509.MarshalECPrivateKey(made)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})
}

// makePKI creates the files of /etc/kubernetes/pki, which expire in an hour, and returns the main
// CA.
func makePKI(t *testing.T, pki string) *authority {
	t.Helper()
	made := map[string]*authority{}
	for _, c := range authorities {
		made[c.ca] = &authority{}
		save(t, filepath.Join(pki, c.file), made[c.ca], c.name, true)
	}
	for _, c := range certificates {
		if !strings.HasSuffix(c.file, ".conf") {
			save(t, filepath.Join(pki, c.file), made[c.ca], c.name, false)
		}
	}
	return made["ca"]
}

func save(t *testing.T, base string, ca *authority, name string, isCA bool) {
	t.Helper()
	certificate, key := ca.sign(t, name, isCA)
	write(t, base+".crt", string(certificate))
	write(t, base+".key", string(key))
}

func kubeconfig(t *testing.T, path string, ca *authority) {
	t.Helper()
	certificate, key := ca.sign(t, "user", false)
	encode := base64.StdEncoding.EncodeToString
	write(t, path, `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: k, cluster: {server: "https://x:6443"}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {client-certificate-data: `+encode(certificate)+`, client-key-data: `+encode(key)+"}}]\n")
}

func TestUpgradeCertificatesAreThoseOfAllComponents(t *testing.T) {
	if got := UpgradeCertificates(false); len(got) != 11 {
		t.Errorf("got %v", got)
	}
	if got := strings.Join(UpgradeCertificates(true), " "); strings.Contains(got, "etcd") {
		t.Errorf("kubeadm does not manage the certificates of external etcd: %s", got)
	}
	var parts []string
	for _, component := range append(Components(), "") {
		parts = append(parts, ComponentCertificates(component, false)...)
	}
	if !slices.Equal(parts, UpgradeCertificates(false)) {
		t.Errorf("the certificates of the components are %v", parts)
	}
}

func TestCertificatesOfAControlPlaneNode(t *testing.T) {
	dir := t.TempDir()
	pki := filepath.Join(dir, "pki")
	ca := makePKI(t, pki)
	for _, name := range []string{"admin.conf", "controller-manager.conf", "scheduler.conf"} {
		kubeconfig(t, filepath.Join(dir, name), ca)
	}
	client, _ := ca.sign(t, "system:node:a", false)
	write(t, filepath.Join(dir, "kubelet-client-current.pem"), string(client))
	write(t, filepath.Join(dir, "kubelet.conf"), `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {client-certificate: `+dir+"/kubelet-client-current.pem}}]\n")
	facts, err := ReadCertificates(pki, dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range facts {
		names = append(names, f.Name)
		if f.ExternalCA || f.NotAfter.IsZero() {
			t.Errorf("got %+v", f)
		}
	}
	want := "ca etcd-ca front-proxy-ca etcd-server etcd-peer etcd-healthcheck-client apiserver apiserver-kubelet-client front-proxy-client " +
		"apiserver-etcd-client controller-manager.conf scheduler.conf admin.conf kubelet-client-current"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUnreadableCertificateDoesNotHideTheOthers(t *testing.T) {
	dir := t.TempDir()
	makePKI(t, dir)
	write(t, filepath.Join(dir, "apiserver.crt"), "torn")
	if err := os.Remove(filepath.Join(dir, "ca.key")); err != nil {
		t.Fatal(err)
	}
	facts, err := ReadCertificates(dir, dir)
	if err == nil || !strings.Contains(err.Error(), "apiserver") {
		t.Errorf("got %v", err)
	}
	if len(facts) != 9 {
		t.Errorf("got %d", len(facts))
	}
	for _, f := range facts {
		if want := f.Name == "ca" || f.Name == "apiserver-kubelet-client"; f.ExternalCA != want {
			t.Errorf("got %+v", f)
		}
	}
}

func TestRealKubeadmRenewsOnceAndRepairsDamagedFiles(t *testing.T) {
	for _, minor := range []string{versions[0], versions[len(versions)-1]} {
		t.Run(minor, func(t *testing.T) { renewsOnceAndMends(t, minor) })
	}
}

func renewsOnceAndMends(t *testing.T, minor string) {
	t.Helper()
	k, to := realKubeadm(t, minor)
	pki := t.TempDir()
	makePKI(t, pki)
	file, err := k.WriteConfig(input(t, to, strings.ReplaceAll(clusterConfiguration, "/etc/kubernetes/pki", pki)+"encryptionAlgorithm: ECDSA-P256\n"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"apiserver", "etcd-peer"}
	renew := func() {
		t.Helper()
		if err := k.renew(t.Context(), file, pki, t.TempDir(), names); err != nil {
			t.Fatal(err)
		}
	}
	crt, key := filepath.Join(pki, "apiserver.crt"), filepath.Join(pki, "apiserver.key")
	untouched := read(t, filepath.Join(pki, "front-proxy-client.crt"))
	old := read(t, crt)
	renew()
	renewed := read(t, crt)
	if renewed == old || read(t, filepath.Join(pki, "front-proxy-client.crt")) != untouched {
		t.Fatal("the certificate was not renewed, or others were")
	}
	renew()
	if read(t, crt) != renewed {
		t.Error("the certificate was renewed twice")
	}
	// A kill after the key was written: it does not match the certificate.
	write(t, key, read(t, filepath.Join(pki, "etcd", "peer.key")))
	renew()
	fits(t, crt)
	// A power cut that left an empty certificate.
	write(t, crt, "")
	renew()
	fits(t, crt)
	// After a rollback the former certificate is in place.
	write(t, crt, old)
	renew()
	fits(t, crt)
	if read(t, crt) == old {
		t.Error("the certificate was not renewed after a rollback")
	}
}

func fits(t *testing.T, path string) {
	t.Helper()
	if err := (certificate{}).check(path); err != nil {
		t.Error(err)
	}
}

func TestNothingIsRenewedWithAnExternalCA(t *testing.T) {
	path, calls := pretend(t, "")
	pki := t.TempDir()
	makePKI(t, pki)
	for _, ca := range []string{"ca.key", "front-proxy-ca.key"} {
		if err := os.Remove(filepath.Join(pki, ca)); err != nil {
			t.Fatal(err)
		}
	}
	k := Kubeadm{Path: path, Dir: t.TempDir()}
	if err := k.renew(t.Context(), "FILE", pki, t.TempDir(), UpgradeCertificates(false)); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(read(t, calls)), "\n")
	slices.Sort(got)
	want := []string{
		"certs renew apiserver-etcd-client --config FILE", "certs renew etcd-healthcheck-client --config FILE", "certs renew etcd-peer --config FILE",
		"certs renew etcd-server --config FILE",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	expect(t, k.renew(t.Context(), "FILE", pki, t.TempDir(), []string{"ca"}), refitv1alpha1.FailureManualIntervention, "UnknownCertificate")
}

func TestDamagedKubeconfigIsRestoredBeforeItsRenewal(t *testing.T) {
	dir := t.TempDir()
	ca := makePKI(t, dir)
	conf := filepath.Join(dir, "scheduler.conf")
	kubeconfig(t, conf, ca)
	old := read(t, conf)
	path, calls := pretend(t, "cp "+conf+" "+conf+".seen")
	k := Kubeadm{Path: path, Dir: t.TempDir()}
	renew := func() {
		t.Helper()
		if err := k.renew(t.Context(), "FILE", dir, dir, []string{"scheduler.conf"}); err != nil {
			t.Fatal(err)
		}
	}
	renew()
	write(t, conf, old[:len(old)/2])
	renew()
	if read(t, conf+".seen") != old {
		t.Error("kubeadm got a damaged file")
	}
	if got := strings.Count(read(t, calls), "scheduler.conf"); got != 2 {
		t.Errorf("kubeadm ran %d times", got)
	}
}
