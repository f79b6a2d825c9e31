package helm

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// secretsServer is an API server that has nothing but Secrets. It refuses updates while it is
// unavailable.
type secretsServer struct {
	stored      map[string]corev1.Secret
	unavailable int // updates
}

func (s *secretsServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	respond := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	missing := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: 404}
	folder, name := path.Split(request.URL.Path)
	switch {
	case request.URL.Path == "/version":
		respond(http.StatusOK, map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	case name == "secrets" && request.Method == http.MethodGet:
		list := corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
		for _, key := range slices.Sorted(maps.Keys(s.stored)) {
			list.Items = append(list.Items, s.stored[key])
		}
		respond(http.StatusOK, list)
	case name == "secrets" || strings.HasSuffix(folder, "/secrets/") && request.Method == http.MethodPut:
		if request.Method == http.MethodPut && s.unavailable > 0 {
			s.unavailable--
			respond(http.StatusServiceUnavailable, metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonServiceUnavailable, Code: 503,
			})
			return
		}
		var secret corev1.Secret
		_ = json.NewDecoder(request.Body).Decode(&secret)
		secret.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
		s.stored[secret.Name] = secret
		respond(http.StatusOK, secret)
	case strings.HasSuffix(folder, "/secrets/"):
		if secret, found := s.stored[name]; found {
			respond(http.StatusOK, secret)
			return
		}
		respond(http.StatusNotFound, missing)
	case name == "configmaps":
		respond(http.StatusOK, corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}})
	default:
		respond(http.StatusNotFound, missing)
	}
}

// TestAnInstallationWhoseEndCannotBeRecorded: Helm reports success, and the release would stay
// locked.
func TestAnInstallationWhoseEndCannotBeRecorded(t *testing.T) {
	for unavailable := range 3 {
		api := &secretsServer{stored: map[string]corev1.Secret{}, unavailable: unavailable}
		server := httptest.NewServer(api)
		t.Cleanup(server.Close)
		config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
		c := New(t.Context(), config, Release{Namespace: "shop", Name: "app"}, slog.DiscardHandler)
		chart := chartOf(t, nil)
		mark := Mark{Operation: "a", Sequence: 7, Step: "wave-all"}
		install := func() error { return c.Install(t.Context(), mark, Upgrade{Chart: chart, Capabilities: target}) }
		err := install()
		for range unavailable { // the step is repeated
			if err != nil {
				err = install()
			}
		}
		must(t, err)
		if newest, err := c.Newest(t.Context()); err != nil || newest.Status != rcommon.StatusDeployed.String() || newest.Description != mark.String() {
			t.Errorf("after %d updates that failed: %+v, %v", unavailable, newest, err)
		}
	}
}
