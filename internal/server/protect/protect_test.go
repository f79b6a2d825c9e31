package protect_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/protect"
)

// answer sends a request to a protected handler that reads the body.
func answer(t *testing.T, change func(*http.Request)) *http.Response {
	t.Helper()
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("secret")
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://localhost:8443/x", nil)
	change(r)
	w := httptest.NewRecorder()
	protect.Handler(inner, []string{"localhost", "127.0.0.1", "::1"}, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
	out := w.Result()
	t.Cleanup(func() { _ = out.Body.Close() })
	return out
}

func TestOnlyRequestsForThisServerFromItsPagesPass(t *testing.T) {
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			r.Header.Set("Content-Type", "application/json")
		}
	}
	for situation, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"no browser":         {func(*http.Request) {}, 200},
		"same origin":        {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") }, 200},
		"an IPv6 address":    {func(r *http.Request) { r.Host = "[::1]:8443" }, 200},
		"upper case":         {func(r *http.Request) { r.Host = "LOCALHOST" }, 200},
		"DNS rebinding":      {func(r *http.Request) { r.Host = "attacker.example" }, 421},
		"another subdomain":  {func(r *http.Request) { r.Host = "localhost.attacker.example" }, 421},
		"another site":       {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"another origin":     {func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") }, 403},
		"JSON":               {body("{}"), 200},
		"a large body":       {body(strings.Repeat("x", protect.MaxBody+1)), 413},
		"a large body, late": {func(r *http.Request) { body(strings.Repeat("x", protect.MaxBody+1))(r); r.ContentLength = -1 }, 413},
		"a form":             {func(r *http.Request) { body("a=b")(r); r.Header.Set("Content-Type", "text/plain") }, 415},
		"a panic":            {func(r *http.Request) { r.URL.Path = "/panic" }, 500},
	} {
		t.Run(situation, func(t *testing.T) {
			out := answer(t, c.change)
			if out.StatusCode != c.want {
				t.Errorf("status is %d, want %d", out.StatusCode, c.want)
			}
			for _, header := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "X-Request-Id", "Strict-Transport-Security"} {
				if out.Header.Get(header) == "" {
					t.Errorf("the answer has no %s", header)
				}
			}
			if text, _ := io.ReadAll(out.Body); strings.Contains(string(text), "secret") {
				t.Errorf("the answer is %s", text)
			}
		})
	}
}

func TestLimitsAreOfEachClient(t *testing.T) {
	l, now := protect.NewLimits(2, 3), time.Now()
	for range 3 {
		if _, ok := l.Allow("a", now); !ok {
			t.Fatal("the burst is refused")
		}
	}
	if after, ok := l.Allow("a", now); ok || after != 500*time.Millisecond {
		t.Errorf("beyond the burst: %s, %v", after, ok)
	}
	if _, ok := l.Allow("b", now); !ok {
		t.Error("another client is refused")
	}
	if _, ok := l.Allow("a", now.Add(time.Second)); !ok {
		t.Error("a second later it is refused")
	}
}
