//go:build e2e

package agent

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// removedFlagFound sets a flag that the running kubelet accepts and the next one does not:
// preflight must find it before anything changes.
func removedFlagFound(f fault) {
	t, s := f.t, f.s
	s.again(t)
	dropIn := "/etc/systemd/system/kubelet.service.d/20-extra.conf"
	must(t, writeOn(t.Context(), s.n, dropIn, "[Service]\nEnvironment=\"KUBELET_EXTRA_ARGS=--event-storage-age-limit=default=1m\"\n"))
	for _, argv := range [][]string{{"systemctl", "daemon-reload"}, {"systemctl", "restart", "kubelet"}} {
		_, err := s.n.Exec(t.Context(), argv...)
		must(t, err)
	}
	s.b.prefetch(t, s.r, s.n)
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	failure := s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeFailed).Error
	if failure == nil || !strings.Contains(failure.Message+failure.LogTail, "event-storage-age-limit") {
		t.Errorf("the failure does not name the flag: %+v", failure)
	}
	_, err := s.n.Exec(t.Context(), "rm", dropIn)
	must(t, err)
	s.untouched(t)
	s.retried(t)
}

// kubeletCannotStart adds a flag that the new kubelet rejects, between the check and the restart.
func kubeletCannotStart(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-kubelet/restart-kubelet:before")
	must(t, writeOn(t.Context(), s.n, "/etc/systemd/system/kubelet.service.d/20-extra.conf",
		"[Service]\nEnvironment=\"KUBELET_EXTRA_ARGS=--pod-infra-container-image=registry.k8s.io/pause:3.10\"\n"))
	begun := time.Now()
	must(t, goOn(t.Context(), s.n))
	status := s.putBack(t)
	s.inTime(t, "agent_kubelet_rollback", time.Since(begun))
	if status.Error == nil || status.Error.Step != "swap-kubelet" || status.Error.LogTail == "" {
		t.Errorf("it is not told why the kubelet did not start: %+v", status.Error)
	}
	s.retried(t)
}

// inTime compares the duration of a rollback with its limit.
func (s *scene) inTime(t *testing.T, name string, took time.Duration) {
	t.Helper()
	show(t, name, took.Seconds(), "s")
	if took > wayBack {
		t.Errorf("the way back took %s, want at most %s", took, wayBack)
	}
}

// apiServerCannotStart adds an argument to kubeadm's configuration that no API server supports.
func apiServerCannotStart(f fault) { f.s.failsInAPIServer(f.t, "agent_apiserver_rollback") }

// apiServerCannotStartOnNewEtcd is apiServerCannotStart after etcd has moved to its next minor
// version, which cannot be rolled back: etcd stays, Kubernetes is rolled back.
func apiServerCannotStartOnNewEtcd(f fault) {
	t, s := f.t, f.s
	s.failsInAPIServer(t, "agent_apiserver_rollback_new_etcd")
	text, err := readOn(t.Context(), s.n, "/etc/kubernetes/manifests/etcd.yaml")
	must(t, err)
	must(t, mentions(text, s.r.Parts.EtcdImageTag))
}

func (s *scene) failsInAPIServer(t *testing.T, name string) {
	t.Helper()
	s.fetched(t)
	must(t, s.b.apiServerArgument(t.Context(), "no-such-flag"))
	acknowledged := s.whileWriting(t, func() {
		s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
		status := s.putBack(t, "/etc/kubernetes/manifests/etcd.yaml")
		back, err := took(status, "swap-apiserver")
		must(t, err)
		s.inTime(t, name, back)
		if status.Error == nil || status.Error.Step != "swap-apiserver" || !strings.Contains(status.Error.LogTail, "no-such-flag") {
			t.Errorf("it is not told why the API server did not start: %+v", status.Error)
		}
	})
	must(t, allThere(t.Context(), s.b, acknowledged))
	must(t, s.b.Smoke(t.Context()))
	must(t, s.b.apiServerArgument(t.Context(), ""))
	s.b.order(t, s.n, retry, permit(refitv1alpha1.PermitApply))
	s.succeeds(t)
}

// whileWriting writes continuously while do runs, and returns the acknowledged writes.
func (s *scene) whileWriting(t *testing.T, do func()) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := make(chan []string, 1)
	go func() { written <- writeUntil(ctx, s.b, "load") }()
	do()
	cancel()
	return <-written
}

const extraArgument = "  extraArgs:\n  - name: %s\n    value: \"1\"\n"

// apiServerArgument adds an argument for the API server to kubeadm's configuration, or removes the
// added ones.
func (b *agents) apiServerArgument(ctx context.Context, name string) error {
	return until(ctx, "kubeadm's configuration to be written", checkTimeout, func(ctx context.Context) error {
		maps := b.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
		found, err := maps.Get(ctx, "kubeadm-config", metav1.GetOptions{})
		if err != nil {
			return err
		}
		text := found.Data["ClusterConfiguration"]
		before, _, has := strings.Cut(text, "apiServer:")
		if !has {
			return errors.New("kubeadm's configuration has no apiServer")
		}
		_, rest, _ := strings.Cut(text, "\napiVersion:")
		section := "apiServer: {}"
		if name != "" {
			section = "apiServer:\n" + strings.TrimSuffix(fmt.Sprintf(extraArgument, name), "\n")
		}
		found.Data["ClusterConfiguration"] = before + section + "\napiVersion:" + rest
		_, err = maps.Update(ctx, found, metav1.UpdateOptions{})
		if apierrors.IsInvalid(err) {
			return nil
		}
		return err
	})
}

// expiredCertificate installs a certificate that expired yesterday. Preflight must find it before
// anything changes; once it is renewed by hand, the change renews all certificates.
func expiredCertificate(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	must(t, expire(t.Context(), s.n, "/etc/kubernetes/pki/front-proxy-ca", "/etc/kubernetes/pki/front-proxy-client"))
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	failure := s.failsWith(t, changing, "CertificateExpired")
	must(t, mentions(failure.Message, "front-proxy-client"))
	s.untouched(t)
	begun := time.Now()
	must(t, s.n.Kubeadm(t.Context(), "certs", "renew", "front-proxy-client"))
	s.retried(t)
	for _, name := range []string{"apiserver", "apiserver-etcd-client", "apiserver-kubelet-client", "front-proxy-client", "etcd/server", "etcd/peer", "etcd/healthcheck-client"} {
		certificate, err := certificateOn(t.Context(), s.n, "/etc/kubernetes/pki/"+name+".crt")
		must(t, err)
		// kubeadm sets NotBefore to that of the CA; only NotAfter shows when the certificate was
		// issued.
		if left := certificate.NotAfter.Sub(begun); left < 364*24*time.Hour+23*time.Hour {
			t.Errorf("%s was not renewed: it ends on %s", name, certificate.NotAfter)
		}
	}
}

// expire replaces a certificate with an expired one, signed by the same CA.
func expire(ctx context.Context, n *cluster.Node, authority, path string) error {
	ca, err := certificateOn(ctx, n, authority+".crt")
	if err != nil {
		return err
	}
	text, err := readOn(ctx, n, authority+".key")
	if err != nil {
		return err
	}
	signer, err := privateKey(text)
	if err != nil {
		return err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "front-proxy-client"},
		NotBefore: time.Now().AddDate(-1, 0, -1), NotAfter: time.Now().AddDate(0, 0, -1),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, own.Public(), signer)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		return err
	}
	return errors.Join(
		writeOn(ctx, n, path+".crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		writeOn(ctx, n, path+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))),
	)
}

func certificateOn(ctx context.Context, n *cluster.Node, path string) (*x509.Certificate, error) {
	text, err := readOn(ctx, n, path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("%s of %s is no PEM", path, n.Name())
	}
	return x509.ParseCertificate(block.Bytes)
}

func privateKey(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("the authority's key is no PEM")
	}
	if rsa, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return rsa, nil
	}
	return x509.ParseECPrivateKey(block.Bytes)
}
