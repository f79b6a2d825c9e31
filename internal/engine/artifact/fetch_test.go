package artifact

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// newStore is a store with short timeouts.
func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := OpenStore(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	s.retry = retryPolicy{attempts: 3, wait: time.Millisecond, maxWait: 2 * time.Millisecond, progress: 64 << 10}
	s.web = newWebWithin(time.Second)
	return s
}

// someFile is a file without two equal pieces.
func someFile() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, 300<<10)
	for i := range out {
		out[i] = byte(random.Uint32())
	}
	return out
}

// serve starts a web server and counts its requests.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, nth int)) (Source, *atomic.Int64) {
	t.Helper()
	requests := &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(w, r, int(requests.Add(1))) }))
	t.Cleanup(server.Close)
	return sourceAt(t, server.URL), requests
}

func sourceAt(t *testing.T, text string) Source {
	t.Helper()
	source, err := ParseSource(text)
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := source.(*mirror); ok {
		m.web = newWebWithin(time.Second)
	}
	return source
}

func good(content []byte) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// cutAfter is a server that closes each connection after some bytes.
func cutAfter(content []byte, most int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		http.ServeContent(&cutting{ResponseWriter: w, left: most}, r, "", time.Time{}, bytes.NewReader(content))
	}
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(what []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(what[:min(len(what), c.left)])
	if c.left -= n; c.left == 0 {
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

func flipped(content []byte, at int) []byte {
	out := bytes.Clone(content)
	out[at] ^= 1
	return out
}

// F25: a truncated or changed file never gets its name, and the next source is tried.
func TestWrongContentIsNeverStored(t *testing.T) {
	content := someFile()
	type server = func(http.ResponseWriter, *http.Request, int)
	for name, c := range map[string]struct {
		servers []server
		reason  string // of the failure, empty if the file is fetched
		bad     bool   // whether a file is quarantined
	}{
		"a good one":                    {[]server{good(content)}, "", false},
		"one that truncates repeatedly": {[]server{cutAfter(content, 70_000)}, "", false},
		"one that truncates at once":    {[]server{cutAfter(content, 1)}, "ArtifactUnavailable", false},
		"one bit flipped":               {[]server{good(flipped(content, 1000))}, "ArtifactWrong", true},
		"flipped, then a good one":      {[]server{good(flipped(content, 1000)), good(content)}, "", true},
		"flipped and truncated, then a good one": {[]server{func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth > 1 {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			cutAfter(flipped(content, 1000), 100_000)(w, r, nth)
		}, good(content)}, "", true},
		"changes the file between pieces": {[]server{func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 {
				cutAfter(flipped(content, 1000), 100_000)(w, r, nth)
				return
			}
			good(content)(w, r, nth)
		}}, "", true},
		"ignores the requested range": {[]server{func(w http.ResponseWriter, r *http.Request, nth int) {
			r.Header.Del("Range")
			if nth == 1 {
				cutAfter(content, 100_000)(w, r, nth)
				return
			}
			good(content)(w, r, nth)
		}}, "", false},
		"returns another range": {[]server{func(w http.ResponseWriter, r *http.Request, nth int) {
			switch {
			case nth == 1:
				cutAfter(content, 100_000)(w, r, nth)
			case r.Header.Get("Range") != "":
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-199999/%d", len(content)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(content[:len(content)-100_000])
			default:
				good(content)(w, r, nth)
			}
		}}, "", false},
		"has a shorter file by now": {[]server{func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 {
				cutAfter(content, 100_000)(w, r, nth)
				return
			}
			good(content[:50_000])(w, r, nth)
		}, good(content)}, "", false},
		"has a longer file": {[]server{good(append(bytes.Clone(content), 'x')), good(content)}, "", false},
		"does not end": {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) {
			for {
				if _, err := w.Write(content); err != nil {
					return
				}
			}
		}, good(content)}, "", false},
		"ends early without a length": {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) {
			http.NewResponseController(w).Flush() // sends no length
			_, _ = w.Write(content[:1000])
		}, good(content)}, "", false},
		"compresses": {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(content)
		}, good(content)}, "", false},
		"is broken for a moment": {[]server{func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth < 3 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			good(content)(w, r, nth)
		}}, "", false},
		"is broken for good":             {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusBadGateway) }}, "ArtifactUnavailable", false},
		"does not have it":               {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusNotFound) }}, "ArtifactNotFound", false},
		"denies access":                  {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusForbidden) }}, "ArtifactNotFound", false},
		"redirects to a file":            {[]server{redirect("file:///etc/passwd")}, "ArtifactUnavailable", false},
		"redirects in a loop":            {[]server{redirect("/again")}, "ArtifactUnavailable", false},
		"a web page instead of the file": {[]server{func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, "<html>log in") }}, "ArtifactWrong", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			b := blobOf(content, "") // it is in one place only
			var sources []Source
			for _, handle := range c.servers {
				source, _ := serve(t, handle)
				sources = append(sources, source)
			}
			err := s.Fetch(t.Context(), b, sources)
			if reasonOf(err) != c.reason || (err == nil) != (c.reason == "") {
				t.Fatalf("%v (%s), want %q", err, reasonOf(err), c.reason)
			}
			whole, _ := os.ReadFile(s.Path(b.Digest))
			if (c.reason == "" && !bytes.Equal(whole, content)) || (c.reason != "" && whole != nil) || s.Has(b) != (c.reason == "") {
				t.Errorf("the store has %d bytes under the name of the file", len(whole))
			}
			if _, err := os.Stat(filepath.Join(s.dir, dirBad, hexOf(b.Digest))); (err == nil) != c.bad {
				t.Errorf("a file is quarantined: %v, want %v", err == nil, c.bad)
			}
		})
	}
}

func TestRedirectFromTLSToPlainHTTPIsRefused(t *testing.T) {
	content := someFile()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { good(content)(w, r, 1) }))
	defer plain.Close()
	for name, c := range map[string]struct {
		handle func(http.ResponseWriter, *http.Request, int)
		reason string
	}{
		"serves the file":         {good(content), ""},
		"redirects to plain HTTP": {redirect(plain.URL), "ArtifactUnavailable"},
		"redirects within TLS": {func(w http.ResponseWriter, r *http.Request, nth int) {
			if r.URL.Path != "/there" {
				redirect("/there")(w, r, nth)
				return
			}
			good(content)(w, r, nth)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.handle(w, r, 1) }))
			defer server.Close()
			source := sourceAt(t, server.URL)
			source.(*mirror).web.client.Transport = server.Client().Transport
			if err := newStore(t).Fetch(t.Context(), blobOf(content, ""), []Source{source}); reasonOf(err) != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("%v (%s), want %q", err, reasonOf(err), c.reason)
			}
		})
	}
}

func redirect(to string) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func TestStalledServerIsLeftForTheNextOne(t *testing.T) {
	content := someFile()
	for name, drip := range map[string]time.Duration{"stops sending": time.Hour, "sends a byte now and then": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			slow, _ := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				w.Header().Set("Content-Length", fmt.Sprint(len(content)))
				for i := range content {
					if _, err := w.Write(content[i : i+1]); err != nil {
						return
					}
					http.NewResponseController(w).Flush()
					select {
					case <-r.Context().Done():
						return
					case <-time.After(drip):
					}
				}
			})
			slow.(*mirror).web = newWebWithin(100 * time.Millisecond)
			quick, _ := serve(t, good(content))
			s := newStore(t)
			start := time.Now()
			if err := s.Fetch(t.Context(), blobOf(content, "x"), []Source{slow, quick}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("the slow server was left after %s", took)
			}
		})
	}
}

func TestTransferResumesAfterARestart(t *testing.T) {
	content := someFile()
	b := blobOf(content, "x")
	s := newStore(t)
	write(t, s.partial(b.Digest), string(content[:200_000]), 0o600)
	var sent atomic.Int64
	source, _ := serve(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if got := r.Header.Get("Range"); got != "bytes=200000-" {
			t.Errorf("requested range %q", got)
		}
		good(content)(w, r, nth)
		sent.Add(1)
	})
	if err := s.Fetch(t.Context(), b, []Source{source}); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), b); err != nil || sent.Load() != 1 {
		t.Errorf("%v, %d requests", err, sent.Load())
	}
}

// A power cut can leave a partial file with zeros, one that is too long, or one that is complete
// and not writable.
func TestPartialFileOfACrashIsCompletedOrReplaced(t *testing.T) {
	content := someFile()
	b := blobOf(content, "x")
	for name, left := range map[string]string{
		"nothing":               "",
		"zeros":                 string(make([]byte, len(content))),
		"a piece, zeros":        string(content[:100]) + string(make([]byte, 1000)),
		"too much":              string(content) + "more",
		"complete":              string(content),
		"complete, but changed": string(flipped(content, 3)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			write(t, s.partial(b.Digest), left, 0o500)
			source, _ := serve(t, good(content))
			if err := s.Fetch(t.Context(), b, []Source{source}); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(t.Context(), b); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCompleteFileNeedsNoSource(t *testing.T) {
	content := someFile()
	b := blobOf(content, "x")
	s := newStore(t)
	write(t, s.partial(b.Digest), string(content), 0o600)
	dead := sourceAt(t, "http://127.0.0.1:1")
	if err := s.Fetch(t.Context(), b, []Source{dead}); err != nil {
		t.Fatal(err)
	}
	if err := s.Fetch(t.Context(), b, nil); err != nil {
		t.Errorf("a stored file is fetched again: %v", err)
	}
}

func TestSourcesAreTriedInOrder(t *testing.T) {
	content := someFile()
	b := blobOf(content, "deep/kubelet")
	hex := strings.TrimPrefix(b.Digest, "sha256:")
	dir := t.TempDir()
	byPath, byDigest, layout, noLayout, wrong, pipe := dir+"/path", dir+"/digest", dir+"/oci", dir+"/none", dir+"/wrong", dir+"/pipe"
	write(t, byPath+"/deep/kubelet", string(content), 0o644)
	write(t, byDigest+"/blobs/sha256/"+hex, string(content), 0o644)
	write(t, layout+"/blobs/sha256/"+hex, string(content), 0o644)
	write(t, layout+"/oci-layout", `{"imageLayoutVersion":"1.0.0"}`, 0o644)
	write(t, noLayout+"/blobs/sha256/"+hex, string(content), 0o644)
	write(t, wrong+"/deep/kubelet", string(flipped(content, 0)), 0o644)
	write(t, wrong+"/blobs/sha256/"+hex, string(content), 0o644)
	write(t, pipe+"/deep/x", "", 0o644)
	if err := syscall.Mkfifo(pipe+"/deep/kubelet", 0o644); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	for name, c := range map[string]struct {
		sources []string
		urls    []string
		works   bool
	}{
		"folder, by its path":              {[]string{byPath}, nil, true},
		"folder, by its digest":            {[]string{byDigest}, nil, true},
		"folder as a URL":                  {[]string{"file://" + byPath}, nil, true},
		"folder, wrong path":               {[]string{wrong}, nil, true},
		"no folder":                        {[]string{"/does/not/exist"}, nil, false},
		"a pipe instead of the file":       {[]string{pipe}, nil, false},
		"OCI layout":                       {[]string{"oci:" + layout}, nil, true},
		"folder that is not an OCI layout": {[]string{"oci:" + noLayout}, nil, false},
		"web, by its path":                 {[]string{web.URL + "/path"}, nil, true},
		"web, by its digest":               {[]string{web.URL + "/digest/"}, nil, true},
		"the second source":                {[]string{"/does/not/exist", byPath}, nil, true},
		"unreachable, then a good one":     {[]string{"http://127.0.0.1:1", byPath}, nil, true},
		"where it was published":           {nil, []string{web.URL + "/nothing", web.URL + "/path/deep/kubelet"}, true},
		"no source":                        {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			b := b
			b.URLs = c.urls
			var sources []Source
			for _, text := range c.sources {
				sources = append(sources, sourceAt(t, text))
			}
			err := s.Fetch(t.Context(), b, sources)
			if (err == nil) != c.works || s.Has(b) != c.works {
				t.Errorf("%v; stored: %v", err, s.Has(b))
			}
			if err != nil && reasonOf(err) == "" {
				t.Errorf("no failure with a remedy: %v", err)
			}
		})
	}
}

func TestFileNamesWithPercentSigns(t *testing.T) {
	content := []byte("a package")
	b := blobOf(content, "containerd.io_1%3a2.4.2~ds1+x_amd64.deb")
	dir := t.TempDir()
	write(t, filepath.Join(dir, b.Path), string(content), 0o644)
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	if err := newStore(t).Fetch(t.Context(), b, []Source{sourceAt(t, web.URL)}); err != nil {
		t.Error(err)
	}
}

func TestInvalidSourcesAreRefused(t *testing.T) {
	for _, text := range []string{"", "relative", "ftp://x/y", "oci:relative", "file://host/x", "https://", "https://a/b?token=secret", "http://user:secret@[::1"} {
		if _, err := ParseSource(text); err == nil || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPasswordOfAMirrorIsSentButNotReported(t *testing.T) {
	content := []byte("x")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
		} else if strings.HasSuffix(r.URL.Path, "/x") {
			_, _ = w.Write(content)
		} else {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer web.Close()
	source := sourceAt(t, strings.Replace(web.URL, "://", "://me:hunter2@", 1))
	if err := newStore(t).Fetch(t.Context(), blobOf(content, "x"), []Source{source}); err != nil {
		t.Error(err)
	}
	err := newStore(t).Fetch(t.Context(), blobOf(content, "y"), []Source{source, sourceAt(t, "http://me:hunter2@127.0.0.1:1")})
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(source.String(), "hunter2") {
		t.Error(err)
	}
}

func TestCanceledFetchIsNotRetried(t *testing.T) {
	content := someFile()
	ctx, cancel := context.WithCancel(t.Context())
	source, requests := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { cancel(); <-r.Context().Done() })
	err := newStore(t).Fetch(ctx, blobOf(content, "x"), []Source{source})
	if err == nil || ctx.Err() == nil || requests.Load() != 1 {
		t.Errorf("%v, %d requests", err, requests.Load())
	}
}

func TestFetchRefusesAnInvalidDigest(t *testing.T) {
	s := newStore(t)
	err := s.Fetch(t.Context(), refitv1alpha1.Blob{Digest: "sha256:../../etc/passwd", Size: 1}, []Source{sourceAt(t, "/")})
	if reasonOf(err) != "ReleaseInvalid" {
		t.Error(err)
	}
	if got := s.Path("sha256:../../etc/passwd"); filepath.Dir(got) != filepath.Join(s.dir, dirWhole) {
		t.Errorf("a digest leads to %s", got)
	}
}
