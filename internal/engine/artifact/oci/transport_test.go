package oci

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRequestsWithoutTLSAreRefused(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for plainHTTP, want := range map[bool]string{true: "", false: "it has no TLS"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := newTransport(plainHTTP).RoundTrip(request)
		if err == nil {
			response.Body.Close()
		}
		if (err == nil) != plainHTTP || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("permitted %v: %v", plainHTTP, err)
		}
	}
}

// Only a registry on this machine is reached without TLS and without permission.
func TestTLSIsTheDefault(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	for address, want := range map[string]bool{"oci://registry.example/r": false, "oci://10.0.0.1:5000/r": false, "oci://127.0.0.1:5000/r": true, "oci://localhost/r": true} {
		at, err := Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, permitted := range []bool{false, true} {
			repository, err := (&Registry{PlainHTTP: permitted}).repository(at)
			if err != nil || repository.PlainHTTP != (want || permitted) {
				t.Errorf("%s, permitted %v: %v", address, permitted, err)
			}
		}
	}
}
