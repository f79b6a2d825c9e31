package steps

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// client-go returns the error "unknown" for a response whose body it does not read.
func TestProbeReportsWhyAnAPIServerDoesNotAnswer(t *testing.T) {
	for situation, c := range map[string]struct {
		code int
		want []string
	}{
		"RBAC is not loaded": {http.StatusForbidden, []string{"its version cannot be read", adminConf, "403 Forbidden", "RBAC"}},
		"it starts":          {http.StatusInternalServerError, []string{"its version cannot be read", "500 Internal Server Error"}},
		"it does not listen": {0, []string{"it is unreachable", "connection refused"}},
	} {
		t.Run(situation, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.code)
			}))
			if c.code == 0 {
				server.Close()
			}
			defer server.Close()
			client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			err = unanswered(getJSON(t.Context(), client, "/version", &struct{}{}))
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not have %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "unknown") {
				t.Errorf("it does not report what is unknown: %v", err)
			}
		})
	}
}
