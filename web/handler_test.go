package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

var build = fstest.MapFS{
	"index.html":           {Data: []byte("<!doctype html><title>Refit</title>")},
	"icon.svg":             {Data: []byte("<svg/>")},
	"assets/index-abc.js":  {Data: []byte(strings.Repeat("let a = 1\n", 100))},
	"assets/text-ab.woff2": {Data: []byte{0, 1, 2, 3}},
}

func get(t *testing.T, method, path string, headers map[string]string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	newHandler(build).ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		method, path string
		status       int
		cache, media string
	}{
		"the first page":                         {"GET", "/", 200, checkFirst, "text/html; charset=utf-8"},
		"a page of the application":              {"GET", "/operations/to-v1-36-3", 200, checkFirst, "text/html; charset=utf-8"},
		"a node whose name has a dot":            {"GET", "/nodes/cp-1.example.js", 200, checkFirst, "text/html; charset=utf-8"},
		"a hashed file":                          {"GET", "/assets/index-abc.js", 200, keepForever, "text/javascript; charset=utf-8"},
		"a font":                                 {"GET", "/assets/text-ab.woff2", 200, keepForever, "font/woff2"},
		"a file whose name has no hash":          {"GET", "/icon.svg", 200, checkFirst, "image/svg+xml"},
		"the headers only":                       {"HEAD", "/", 200, checkFirst, "text/html; charset=utf-8"},
		"a hashed file of another version":       {"GET", "/assets/index-old.js", 404, "", ""},
		"a folder":                               {"GET", "/assets", 200, checkFirst, "text/html; charset=utf-8"},
		"a path that leaves the folder of files": {"GET", "/assets/../../handler.go", 200, checkFirst, "text/html; charset=utf-8"},
		"another method":                         {"POST", "/", 405, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := get(t, test.method, test.path, nil)
			if r.StatusCode != test.status {
				t.Fatalf("status %d, want %d", r.StatusCode, test.status)
			}
			if got := r.Header.Get("Content-Security-Policy"); got != ContentSecurityPolicy {
				t.Errorf("Content-Security-Policy is %q", got)
			}
			if test.status != 200 {
				if got := r.Header.Get("Cache-Control"); got != "" {
					t.Errorf("an error has Cache-Control %q", got)
				}
				return
			}
			if got := r.Header.Get("Cache-Control"); got != test.cache {
				t.Errorf("Cache-Control is %q, want %q", got, test.cache)
			}
			if got := r.Header.Get("Content-Type"); got != test.media {
				t.Errorf("Content-Type is %q, want %q", got, test.media)
			}
		})
	}
}

func TestThePolicyHasNoExceptions(t *testing.T) {
	if !strings.HasPrefix(ContentSecurityPolicy, "default-src 'none'; script-src 'self'; style-src 'self';") {
		t.Errorf("the policy is %q", ContentSecurityPolicy)
	}
	for _, exception := range []string{"unsafe", "nonce", "sha256", "http:", "https:", "*"} {
		if strings.Contains(ContentSecurityPolicy, exception) {
			t.Errorf("the policy has %q: %q", exception, ContentSecurityPolicy)
		}
	}
}

func TestCompressionAndRevalidation(t *testing.T) {
	plain := get(t, "GET", "/assets/index-abc.js", nil)
	zipped := get(t, "GET", "/assets/index-abc.js", map[string]string{"Accept-Encoding": "br, gzip"})
	if zipped.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
		t.Fatalf("encodings are %q and %q", plain.Header.Get("Content-Encoding"), zipped.Header.Get("Content-Encoding"))
	}
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil || !bytes.Equal(content, build["assets/index-abc.js"].Data) || body(t, plain) != string(content) {
		t.Errorf("the contents differ: %v", err)
	}
	if plain.Header.Get("ETag") == zipped.Header.Get("ETag") {
		t.Error("both encodings have the same ETag")
	}
	again := get(t, "GET", "/", map[string]string{"If-None-Match": get(t, "GET", "/", nil).Header.Get("ETag")})
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("a known page is answered with %d", again.StatusCode)
	}
	if font := get(t, "GET", "/assets/text-ab.woff2", map[string]string{"Accept-Encoding": "gzip"}); font.Header.Get("Content-Encoding") != "" {
		t.Error("a font is compressed again")
	}
}
