package upstream

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRedirectsStayOnTLS(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	trusting := &http.Client{Transport: secure.Client().Transport, CheckRedirect: client.CheckRedirect}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, secure.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := trusting.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "redirected away from https") {
		t.Errorf("%v", err)
	}
}

func TestSizesAreBounded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/short") {
			w.Header().Set("Content-Length", "5")
		}
		_, _ = w.Write([]byte("12345"))
	}))
	defer s.Close()
	if size, err := (Web{}).Size(t.Context(), s.URL+"/short", 5); size != 5 || err != nil {
		t.Errorf("%d %v", size, err)
	}
	if _, err := (Web{}).Size(t.Context(), s.URL+"/short", 4); err == nil {
		t.Error("a file above the limit has a size")
	}
	if _, err := (Web{}).Get(t.Context(), s.URL+"/short", 4); err == nil || !strings.Contains(err.Error(), "larger than 4 bytes") {
		t.Errorf("%v", err)
	}
}
