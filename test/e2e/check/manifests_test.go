//go:build e2e

package check

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"runtime"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// app is a Deployment. Its pods prefer the first worker, so that the other nodes can fail without
// affecting them.
type app struct {
	name      string
	replicas  int
	namespace string // empty: shop
	pod       string // additional YAML lines for the pods' spec
	meta      string // additional YAML lines for the pods' metadata
	container string // additional fields of the container, after a comma
}

func (a app) manifest() string {
	if a.namespace == "" {
		a.namespace = shop
	}
	if a.pod == "" {
		a.pod = "terminationGracePeriodSeconds: 0"
	}
	if a.meta == "" {
		a.meta = "annotations: {}"
	}
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata:
      labels: {app: %[1]s}
      %[4]s
    spec:
      affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [
        {weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [check-worker-1]}]}}]}}
      containers: [%[6]s]
      %[5]s
`, a.name, a.namespace, a.replicas, a.meta, strings.ReplaceAll(a.pod, "\n", "\n      "), strings.TrimSuffix(idle, "}")+a.container+"}")
}

// idle is a container that does nothing and exits on SIGTERM.
const idle = `{name: main, image: "` + versions.BusyboxImage + `", imagePullPolicy: Never, command: [sh, -c, 'trap "exit 0" TERM; while :; do sleep 1; done']}`

// budget returns a PodDisruptionBudget for the pods of an app.
func budget(name, app, allows string) string {
	return fmt.Sprintf(`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: %s}, spec: {%s, selector: {matchLabels: {app: %s}}}}`,
		name, shop, allows, app)
}

// service returns a Service for the pods of the app with the same name.
func service(namespace, name string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: %[2]s, namespace: %[1]s}, spec: {selector: {app: %[2]s}, ports: [{port: 443}]}}`, namespace, name)
}

// webhook is a validating webhook that fails closed. By default it only matches new pods in the
// namespace guarded.
type webhook struct {
	name      string
	service   string // namespace and name as YAML fields: "namespace: shop, name: hook"
	bundle    []byte
	fails     string // empty: Fail
	matches   string // empty: Equivalent
	resources string // empty: pods of the namespace guarded
}

func (w webhook) manifest() string {
	if w.fails == "" {
		w.fails = "Fail"
	}
	if w.matches == "" {
		w.matches = "Equivalent"
	}
	if w.resources == "" {
		w.resources = fmt.Sprintf(`
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]`, guarded)
	}
	return fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: %[1]s.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 1
  failurePolicy: %[2]s
  matchPolicy: %[3]s
  clientConfig: {service: {%[4]s}, caBundle: %[5]q}%[6]s
`, w.name, w.fails, w.matches, w.service, base64.StdEncoding.EncodeToString(w.bundle), w.resources)
}

// spread is a Service with ready pods on two nodes, from the testbed's workload.
const spread = "namespace: testbed-smoke, name: web, port: 80"

// expiredCA returns a CA certificate that expired yesterday.
func expiredCA() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	yesterday := time.Now().AddDate(0, 0, -1)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "expired"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: yesterday.AddDate(-1, 0, 0), NotAfter: yesterday,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// helm is a release in Helm's storage format.
type helm struct {
	name, status string
	manifest     string
	values       map[string]any
}

func (h helm) secret() string {
	stored, err := json.Marshal(map[string]any{
		"name": h.name, "namespace": shop, "version": 1, "info": map[string]any{"status": h.status}, "manifest": h.manifest, "config": h.values,
		"chart": map[string]any{"metadata": map[string]any{"name": h.name, "version": "1.2.3"}},
	})
	if err != nil {
		panic(err)
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(stored); err != nil {
		panic(err)
	}
	if err := zip.Close(); err != nil {
		panic(err)
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Secret
type: helm.sh/release.v1
metadata:
  name: sh.helm.release.v1.%[1]s.v1
  namespace: %[2]s
  labels: {owner: helm, name: %[1]s, status: %[3]s, version: "1"}
stringData: {release: %[4]q}
`, h.name, shop, h.status, base64.StdEncoding.EncodeToString(packed.Bytes()))
}

// fileOf returns a binary for the hosts, which no agent downloads.
func fileOf(part refitv1alpha1.Part, version string) refitv1alpha1.ReleaseFile {
	return refitv1alpha1.ReleaseFile{
		Part: part, Name: string(part), Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: runtime.GOARCH, Version: version,
		Blob: refitv1alpha1.Blob{Digest: "sha256:" + strings.Repeat("0", 64), Size: 1},
	}
}

// release returns a ClusterRelease with an arbitrary signature: only agents verify it.
func release(name, version, signed string) string {
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: signed, Files: []refitv1alpha1.ReleaseFile{
		fileOf(refitv1alpha1.PartKubeadm, signed), fileOf(refitv1alpha1.PartKubelet, signed),
	}})
	if err != nil {
		panic(err)
	}
	envelope, err := json.Marshal(map[string]any{
		"payloadType": refitv1alpha1.ReleasePayloadType, "payload": payload,
		"signatures": []map[string]any{{"keyid": "owner", "sig": "c2lnbmF0dXJl"}},
	})
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{apiVersion: %s, kind: ClusterRelease, metadata: {name: %s}, spec: {kubernetes: %s, envelope: %s}}`,
		refitv1alpha1.GroupVersion, name, version, base64.StdEncoding.EncodeToString(envelope))
}
