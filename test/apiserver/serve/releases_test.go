//go:build apiserver

package serve

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// signedRelease returns the envelope of a ClusterRelease.
func signedRelease(t *testing.T, sign func(payload []byte) ([]byte, error)) []byte {
	t.Helper()
	const version = "v1.36.3"
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: version, Files: clustertest.DebFiles(version)})
	must(t, err)
	envelope, err := sign(payload)
	must(t, err)
	return envelope
}

// TestReleasesAreAddedIfTheHostsTrustThem uploads ClusterReleases, as `refit release sign` writes
// them, with good and bad signatures.
func TestReleasesAreAddedIfTheHostsTrustThem(t *testing.T) {
	trusted, other := artifact.NewKey(), artifact.NewKey()
	c := apart(t)
	public := artifact.PublicOf(trusted)
	pem, err := artifact.MarshalPublic(public.Key)
	must(t, err)
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refit-agent"}})))
	must(t, c.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "refit-agent", Name: "refit-agent"}, Data: map[string]string{"release.pem": string(pem)},
	}))
	operator := c.token(t, "operator", "refit-operator")
	s := c.serve(t, t.TempDir()).current(t, operator)
	admin := s.signIn(t, api.SignIn{Code: s.NewCode()})

	good := signedRelease(t, func(p []byte) ([]byte, error) { return artifact.Sign(p, trusted) })
	strange := signedRelease(t, func(p []byte) ([]byte, error) { return artifact.Sign(p, other) })
	tampered := strings.Replace(string(good), `"payload":"`, `"payload":"eyJ9`, 1)
	unsigned := signedRelease(t, func(p []byte) ([]byte, error) {
		return json.Marshal(map[string]any{"payloadType": refitv1alpha1.PayloadType(1), "payload": base64.StdEncoding.EncodeToString(p), "signatures": []any{}})
	})
	object := func(envelope []byte) string {
		content, err := json.Marshal(&refitv1alpha1.ClusterRelease{
			TypeMeta: metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ClusterRelease"}, ObjectMeta: metav1.ObjectMeta{Name: "kubernetes-v1.36.3"},
			Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3", Envelope: envelope},
		})
		must(t, err)
		return string(content)
	}
	put := func(body, cookie, token string) (*http.Response, []byte) {
		return s.send(t, request{
			method: http.MethodPut, path: prefix + "releases/kubernetes-v1.36.3", body: body, cookie: cookie, token: token, header: http.Header{"Content-Type": {"application/yaml"}},
		})
	}
	schema := compile(t)("#/components/schemas/AddedRelease")
	for _, tt := range []struct { // in order: the first one that is accepted exists for the others
		situation, body string
		status          int
		code            string
	}{
		{"another key", object(strange), http.StatusUnprocessableEntity, "bad-signature"},
		{"other content", tampered, http.StatusUnprocessableEntity, "bad-signature"},
		{"no signature", string(unsigned), http.StatusUnprocessableEntity, "bad-signature"},
		{"no envelope", object(nil), http.StatusUnprocessableEntity, "bad-signature"},
		{"too large", strings.Repeat(" ", 769<<10), http.StatusRequestEntityTooLarge, "too-large"},
		{"several objects", object(good) + "\n---\n" + object(good), http.StatusUnprocessableEntity, "invalid"},
		{"another name", strings.Replace(object(good), `"name":"kubernetes-v1.36.3"`, `"name":"other"`, 1), http.StatusUnprocessableEntity, "invalid"},
		{"a trusted key", object(good), http.StatusCreated, ""},
		{"the same again", object(good), http.StatusOK, ""},
		{"its envelope alone", string(good), http.StatusOK, ""},
	} {
		answer, body := put(tt.body, admin, "")
		if answer.StatusCode != tt.status || tt.code != "" && !strings.Contains(string(body), `"code":"`+tt.code+`"`) {
			t.Errorf("%s: %d %s", tt.situation, answer.StatusCode, body)
		}
		var existing refitv1alpha1.ClusterReleaseList
		must(t, c.List(t.Context(), &existing))
		if tt.code != "" {
			if len(existing.Items) > 0 {
				t.Fatalf("%s: it was added", tt.situation)
			}
			continue
		}
		validate(t, schema, body)
		var added api.AddedRelease
		must(t, json.Unmarshal(body, &added))
		if added.KeyID != public.ID || added.Trust != api.AddedReleaseTrust(cliv1alpha1.TrustVerified) || added.Kubernetes != "v1.36.3" || added.Existed != (tt.status == http.StatusOK) {
			t.Errorf("%s: %s", tt.situation, body)
		}
	}
	if answer, body := put(object(good), "", operator); answer.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "create clusterreleases.refit.dev") {
		t.Errorf("an operator: %d %s", answer.StatusCode, body)
	}
	audit, body := s.send(t, request{path: prefix + "audit", cookie: admin})
	if audit.StatusCode != http.StatusOK || !strings.Contains(string(body), public.ID) {
		t.Errorf("the audit log does not have the key: %s", body)
	}
}
