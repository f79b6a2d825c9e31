//go:build e2e

package upgrade

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// guarding is a webhook without a backend for the RBAC objects that an API server of another
// version writes when it starts.
const guarding = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: guarding}, webhooks: [{
	name: guarding.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, timeoutSeconds: 2,
	rules: [{apiGroups: [rbac.authorization.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [clusterroles, clusterrolebindings]}],
	clientConfig: {service: {namespace: shop, name: nobody}}}]}`

// webhookGuardsSystem requests an upgrade that would leave the new API server without the system's
// own RBAC: the upgrade does not start.
func webhookGuardsSystem(s scene) {
	t, c := s.t, s.trio
	c.apply(t, guarding)
	told := c.Refused(t, exitBlocked, append([]string{"upgrade", "--to", newer, "--yes"}, waiveBare...)...)
	must(t, mentions(told, "WebhookUnreachable"))
	must(t, mentions(told, "guarding"))
	c.delete(t, guarding)
}

// webhookDenies has a webhook that responds and denies these RBAC objects. Only a request can show
// that, so the agent sends a dry-run write and changes nothing.
func webhookDenies(s scene) {
	t, c := s.t, s.trio
	server := denying(t, c.Gateway().AsSlice())
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.TLS.Certificates[0].Certificate[0]}))
	config := fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: denying}, webhooks: [{
		name: denying.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, timeoutSeconds: 2,
		rules: [{apiGroups: [rbac.authorization.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [clusterroles]}],
		clientConfig: {url: %q, caBundle: %s}}]}`, server.URL, authority)
	c.apply(t, config)
	o := c.ask(t, "denied", func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Scope = refitv1alpha1.ScopeControlPlane })
	o.does(t, c.controlPlane.Name(), "denying.example.com")
	o.reaches(t, refitv1alpha1.PhaseStalled)
	c.explains(t, c.controlPlane, "denying.example.com", "refit retry")
	c.delete(t, config)
	c.ends(t, o)
	c.untouched(t, c.controlPlane)
}

// denying serves a webhook at an address of this machine.
func denying(t *testing.T, address net.IP) *httptest.Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{address}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	must(t, err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			APIVersion string         `json:"apiVersion"`
			Kind       string         `json:"kind"`
			Request    map[string]any `json:"request,omitempty"`
			Response   map[string]any `json:"response"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = map[string]any{"uid": review.Request["uid"], "allowed": false, "status": map[string]any{"message": "no role may be changed"}}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review) // the client may have disconnected
	}))
	must(t, server.Listener.Close())
	server.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(address.String(), "0"))
	must(t, err)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// refusing is a webhook without a backend for the Pods that probe nodes.
const refusing = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: refusing}, webhooks: [{
	name: refusing.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Fail, timeoutSeconds: 2,
	namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: refit-trial}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}],
	clientConfig: {service: {namespace: shop, name: nobody}}}]}`

// webhookRefuses resumes that operation. It does not finish while no Pod can be created, and names
// the webhook.
func webhookRefuses(s scene) {
	t, c := s.t, s.trio
	o := c.operation("control-plane")
	o.does(t, c.controlPlane.Name(), "refusing.example.com")
	c.delete(t, refusing)
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	c.NoCordonLeft(t)
}
