package oci_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/oci"
	"github.com/refit-dev/refit/internal/engine/artifact/oci/ocitest"
)

func parse(t *testing.T, format string, args ...any) oci.Reference {
	t.Helper()
	at, err := oci.Parse(fmt.Sprintf(format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// noLogin hides the credentials of whoever runs the test.
func noLogin(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	return dir
}

func document(text string) oci.Document {
	return oci.Document{Title: "kubernetes-v1.36.3.yaml", Version: "v1.36.3", Text: []byte(text)}
}

func TestWhatIsPushedIsPulled(t *testing.T) {
	noLogin(t)
	host, registry := ocitest.New(t, nil), &oci.Registry{}
	at := parse(t, "oci://%s/refit/releases:v1.36.3", host)
	digest, err := registry.PushRelease(t.Context(), at, document("one"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := registry.PushRelease(t.Context(), at, document("one")); err != nil || again != digest {
		t.Errorf("the second push: %s, %v, want %s", again, err, digest)
	}
	for _, from := range []oci.Reference{at, parse(t, "oci://%s/refit/releases@%s", host, digest)} {
		got, by, err := registry.PullRelease(t.Context(), from)
		if err != nil || string(got.Text) != "one" || got.Title != "kubernetes-v1.36.3.yaml" || got.Version != "v1.36.3" || by != digest {
			t.Errorf("%s: %+v, %s, %v", from, got, by, err)
		}
	}
}

func TestATagIsNotMoved(t *testing.T) {
	noLogin(t)
	host, registry := ocitest.New(t, nil), &oci.Registry{}
	at := parse(t, "oci://%s/releases:v1.36.3", host)
	if _, err := registry.PushRelease(t.Context(), at, document("one")); err != nil {
		t.Fatal(err)
	}
	if _, err := registry.PushRelease(t.Context(), at, document("two")); !errors.Is(err, oci.ErrExists) {
		t.Errorf("the tag was moved: %v", err)
	}
	if got, _, err := registry.PullRelease(t.Context(), at); err != nil || string(got.Text) != "one" {
		t.Errorf("%s, %v", got.Text, err)
	}
}

func TestSizesAreBounded(t *testing.T) {
	noLogin(t)
	registry := &oci.Registry{}
	at := parse(t, "oci://%s/releases:v1.36.3", ocitest.New(t, nil))
	if _, err := registry.PushRelease(t.Context(), at, document(strings.Repeat("a", 2<<20))); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a large ClusterRelease: %v", err)
	}
	endless := ocitest.New(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Content-Length", "1000000000")
			for r.Context().Err() == nil && r.Method == http.MethodGet {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		})
	})
	if _, _, err := registry.PullRelease(t.Context(), parse(t, "oci://%s/releases:v1.36.3", endless)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a large manifest: %v", err)
	}
}

func TestARegistryThatDoesNotAnswer(t *testing.T) {
	noLogin(t)
	host := ocitest.New(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	})
	_, _, err := (&oci.Registry{Timeout: 20 * time.Millisecond}).PullRelease(t.Context(), parse(t, "oci://%s/releases:v1", host))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not respond in time") {
		t.Error(err)
	}
}

func TestMissingArtifact(t *testing.T) {
	noLogin(t)
	_, _, err := (&oci.Registry{}).PullRelease(t.Context(), parse(t, "oci://%s/releases:v1", ocitest.New(t, nil)))
	if err == nil || !strings.Contains(err.Error(), "the registry has no such artifact") {
		t.Error(err)
	}
}

// As `docker login` stores them.
func TestCredentialsOfDocker(t *testing.T) {
	dir := noLogin(t)
	const right = "team:secret"
	host := ocitest.New(t, func(registry http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user+":"+password != right {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			registry.ServeHTTP(w, r)
		})
	})
	at := parse(t, "oci://%s/releases:v1.36.3", host)
	if _, err := (&oci.Registry{}).PushRelease(t.Context(), at, document("one")); err == nil {
		t.Error("no credentials are accepted")
	}
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte(right)))
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&oci.Registry{}).PushRelease(t.Context(), at, document("one")); err != nil {
		t.Error(err)
	}
	if _, _, err := (&oci.Registry{}).PullRelease(t.Context(), at); err != nil {
		t.Error(err)
	}
}

// The fingerprint is the user's, whatever the registry has under its tag.
func TestKeysByFingerprint(t *testing.T) {
	noLogin(t)
	host, registry := ocitest.New(t, nil), &oci.Registry{}
	at := parse(t, "oci://%s/releases", host)
	mine, other := artifact.PublicOf(artifact.NewKey()), artifact.PublicOf(artifact.NewKey())
	if _, err := registry.Key(t.Context(), at, mine.ID); err == nil {
		t.Error("a key that was not pushed is there")
	}
	if err := registry.PushKey(t.Context(), at, mine); err != nil {
		t.Fatal(err)
	}
	if got, err := registry.Key(t.Context(), at, mine.ID); err != nil || got.ID != mine.ID {
		t.Errorf("%s, %v", got.ID, err)
	}
	// The registry answers with another key.
	swapped := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+host+strings.Replace(r.URL.Path, oci.KeyTag(other.ID), oci.KeyTag(mine.ID), 1), http.StatusTemporaryRedirect)
	}))
	defer swapped.Close()
	_, err := registry.Key(t.Context(), parse(t, "oci://%s/releases", strings.TrimPrefix(swapped.URL, "http://")), other.ID)
	if err == nil || !strings.Contains(err.Error(), "is not the one that you trust: its fingerprint is "+mine.ID+", not "+other.ID) {
		t.Error(err)
	}
}
