package store

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// fakeGCS is a server with the calls that GCS uses, for one bucket.
type fakeGCS struct {
	mu      sync.Mutex
	objects map[string][]byte
	uploads map[string][]byte
	// fault, if set, may answer a request instead.
	fault func(w http.ResponseWriter, r *http.Request, body []byte) (answered bool)
	// page is the number of items of a page.
	page int
}

func newFakeGCS() *fakeGCS {
	return &fakeGCS{objects: map[string][]byte{}, uploads: map[string][]byte{}, page: 2}
}

func (f *fakeGCS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil && f.fault(w, r, body) {
		return
	}
	query := r.URL.Query()
	key, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/storage/v1/b/bucket/o/"))
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case r.Method == http.MethodPost:
		f.uploads[query.Get("name")] = []byte{}
		w.Header().Set("Location", "http://"+r.Host+"/session?name="+url.QueryEscape(query.Get("name")))
	case r.URL.Path == "/session" && r.Method == http.MethodDelete:
		delete(f.uploads, query.Get("name"))
		w.WriteHeader(499)
	case r.URL.Path == "/session":
		f.accept(w, query.Get("name"), body, r.Header.Get("Content-Range"))
	case r.URL.Path == "/storage/v1/b/bucket/o":
		f.list(w, query.Get("prefix"), query.Get("pageToken"))
	default:
		f.object(w, r, key)
	}
}

// accept appends a chunk to an upload.
func (f *fakeGCS) accept(w http.ResponseWriter, key string, body []byte, contentRange string) {
	have := f.uploads[key]
	if len(body) > 0 {
		have = append(have, body...)
		f.uploads[key] = have
	}
	if strings.HasSuffix(contentRange, fmt.Sprintf("/%d", len(have))) {
		f.objects[key] = have
		delete(f.uploads, key)
		return
	}
	if len(have) > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(have)-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}

func (f *fakeGCS) describe(key string) map[string]any {
	return map[string]any{"name": key, "size": fmt.Sprint(len(f.objects[key])), "updated": "2026-11-16T10:00:00Z"}
}

func (f *fakeGCS) list(w http.ResponseWriter, prefix, token string) {
	answer := map[string]any{}
	var items []map[string]any
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if !strings.HasPrefix(key, prefix) || key <= token {
			continue
		}
		if len(items) == f.page {
			answer["nextPageToken"] = items[len(items)-1]["name"]
			break
		}
		items = append(items, f.describe(key))
	}
	answer["items"] = items
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *fakeGCS) object(w http.ResponseWriter, r *http.Request, key string) {
	content, ok := f.objects[key]
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Query().Get("alt") == "media":
		_, _ = w.Write(content)
	default:
		_ = json.NewEncoder(w).Encode(f.describe(key))
	}
}

func testGCS(t *testing.T, f http.Handler, change func(*GCSSettings)) *GCS {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	settings := GCSSettings{Endpoint: server.URL, Bucket: "bucket"}
	if change != nil {
		change(&settings)
	}
	g, err := OpenGCS(settings)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGCS(t *testing.T) {
	f := newFakeGCS()
	testStore(t, testGCS(t, f, nil))
	if len(f.uploads) != 0 {
		t.Errorf("left uploads %v", slices.Collect(maps.Keys(f.uploads)))
	}
}

func TestUploadResumesWhereTheServerIs(t *testing.T) {
	t.Parallel()
	f := newFakeGCS()
	failed := false
	f.fault = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		if failed || len(body) == 0 {
			return false
		}
		failed = true
		f.uploads["a"] = append(f.uploads["a"], body[:len(body)/2]...) // half is accepted
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	want := make([]byte, partSize+100)
	_, _ = rand.Read(want)
	if err := testGCS(t, f, nil).Put(t.Context(), "a", bytes.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	if !failed || !bytes.Equal(f.objects["a"], want) {
		t.Errorf("stored %d bytes", len(f.objects["a"]))
	}
}

func TestLostUploadFails(t *testing.T) {
	t.Parallel()
	for situation, fault := range map[string]func(w http.ResponseWriter, r *http.Request, body []byte) bool{
		"server accepts nothing": func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
			if len(body) > 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return len(body) > 0
		},
		"server has forgotten the upload": func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
			if len(body) > 0 {
				w.WriteHeader(http.StatusNotFound)
			}
			return len(body) > 0
		},
		"server is done too early": func(_ http.ResponseWriter, _ *http.Request, body []byte) bool { return len(body) > 0 },
		"upload of another server": func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.Method == http.MethodPost {
				w.Header().Set("Location", "http://elsewhere.example.com/session")
			}
			return r.Method == http.MethodPost
		},
	} {
		f := newFakeGCS()
		f.fault = fault
		err := testGCS(t, f, nil).Put(t.Context(), "a", bytes.NewReader(make([]byte, partSize+1)))
		if !errors.Is(err, backup.ErrUnreachable) || len(f.objects) != 0 || len(f.uploads) != 0 {
			t.Errorf("%s: %d objects, %d uploads, %v", situation, len(f.objects), len(f.uploads), err)
		}
	}
}

func TestErrorsOfGCSHaveAClassAndNoSecrets(t *testing.T) {
	for status, want := range map[int]error{
		http.StatusUnauthorized: backup.ErrDenied, http.StatusForbidden: backup.ErrDenied,
		http.StatusNotFound: backup.ErrNotFound, http.StatusInsufficientStorage: backup.ErrFull,
		http.StatusServiceUnavailable: backup.ErrUnreachable, http.StatusFound: nil,
	} {
		refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://elsewhere.example.com/"+testSecret)
			w.WriteHeader(status)
			fmt.Fprint(w, testSecret)
		})
		err := testGCS(t, refuse, nil).Put(t.Context(), "a", strings.NewReader("x"))
		if err == nil || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), testSecret) {
			t.Errorf("%d: got %v, want %v", status, err, want)
		}
	}
}

func TestSilentGCSEnds(t *testing.T) {
	release := make(chan struct{})
	silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
	g := testGCS(t, silent, func(s *GCSSettings) { s.Stall = 50 * time.Millisecond })
	defer close(release)
	if err := g.Put(t.Context(), "a", strings.NewReader("x")); !errors.Is(err, backup.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

// serviceAccount returns a key file for a token server.
func serviceAccount(t *testing.T, tokenURI string) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "refit@example.com", "token_uri": tokenURI,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestServiceAccountAuthorizesRequests(t *testing.T) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") == "" || r.FormValue("assertion") == "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "token", "token_type": "Bearer", "expires_in": 3600}`)
	}))
	defer tokens.Close()
	f := newFakeGCS()
	f.fault = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Header.Get("Authorization") == "Bearer token" {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	g := testGCS(t, f, func(s *GCSSettings) { s.ServiceAccount = serviceAccount(t, tokens.URL) })
	if err := g.Put(t.Context(), "a", strings.NewReader("x")); err != nil {
		t.Error(err)
	}
}

func TestRefusedTokenIsDeniedWithoutDetails(t *testing.T) {
	for status, want := range map[int]error{http.StatusBadRequest: backup.ErrDenied, http.StatusServiceUnavailable: backup.ErrUnreachable} {
		tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "you sent "+r.FormValue("assertion")+testSecret)
		}))
		t.Cleanup(tokens.Close)
		g := testGCS(t, newFakeGCS(), func(s *GCSSettings) { s.ServiceAccount = serviceAccount(t, tokens.URL) })
		err := g.Put(t.Context(), "a", strings.NewReader("x"))
		if !errors.Is(err, want) || strings.Contains(err.Error(), testSecret) {
			t.Errorf("%d: got %v, want %v", status, err, want)
		}
	}
}

func TestInvalidKeyFileIsNotRepeated(t *testing.T) {
	for _, file := range []string{testSecret, `{"type": "service_account", "private_key": "` + testSecret + `"}`, `{"type": "authorized_user"}`} {
		if _, err := OpenGCS(GCSSettings{Bucket: "b", ServiceAccount: []byte(file)}); err == nil || strings.Contains(err.Error(), testSecret) {
			t.Errorf("got %v", err)
		}
	}
}
