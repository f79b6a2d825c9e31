package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// kubeconfigOf returns a kubeconfig for a kubelet.
func kubeconfigOf(t *testing.T, server *httptest.Server, nodeName string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: nodeUser + nodeName}, NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	data := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: x
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
`, server.URL, data("CERTIFICATE", server.Certificate().Raw), data("CERTIFICATE", certificate), data("PRIVATE KEY", private))
}

func TestClientStartsWhileTheKubeconfigIsDamagedOrMissing(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"u-1"}}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "kubelet.conf")
	c := New(file, "test", "n1")
	if c.NodeName() != "n1" {
		t.Errorf("the node name is %q", c.NodeName())
	}
	complete := kubeconfigOf(t, server, "n1")
	for situation, text := range map[string]string{
		"missing": "", "truncated": complete[:len(complete)/2], "of another node": kubeconfigOf(t, server, "n2"),
	} {
		if text != "" {
			must(t, os.WriteFile(file, []byte(text), 0o600))
		}
		if _, err := c.Node(t.Context()); err == nil {
			t.Errorf("%s: want an error", situation)
		}
		_ = os.Remove(file)
	}
	must(t, os.WriteFile(file, []byte(complete), 0o600))
	if node, err := c.Node(t.Context()); err != nil || node.UID != "u-1" {
		t.Errorf("once it is complete: %+v (%v)", node, err)
	}
}

func TestRequestsToHangingServerTimeOut(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server detects a disconnect only then
		<-r.Context().Done()
		// Returning would send a response, which the client may still receive.
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "kubelet.conf")
	must(t, os.WriteFile(file, []byte(kubeconfigOf(t, server, "n1")), 0o600))
	c, err := Connect(file, "test")
	must(t, err)
	if c.timeout != 10*time.Second {
		t.Errorf("the timeout is %s", c.timeout)
	}
	c.timeout = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for name, request := range map[string]func() error{
		"Release":            func() error { _, err := c.Release(ctx, "r"); return err },
		"Node":               func() error { _, err := c.Node(ctx); return err },
		"KubeadmConfig":      func() error { _, err := c.KubeadmConfig(ctx); return err },
		"EnsureReport":       func() error { return c.EnsureReport(ctx, &corev1.Node{}) },
		"ApplyReportStatus":  func() error { return c.ApplyReportStatus(ctx, refitv1alpha1.NodeReportStatus{}) },
		"ApplyUpgradeStatus": func() error { return c.ApplyUpgradeStatus(ctx, "n1", refitv1alpha1.NodeUpgradeStatus{}) },
	} {
		err := request()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "deadline exceeded") {
			t.Errorf("%s: %v", name, err)
		}
		if ctx.Err() != nil {
			t.Fatalf("%s waited for the caller's deadline", name)
		}
	}
}
