package upstream

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// needs skips a test where a tool of upstream is not installed.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: it builds the repository of this test", tool)
		}
	}
}

// run runs a tool in a directory and returns its output.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "SOURCE_DATE_EPOCH=1700000000")
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, failed.String())
	}
	return string(out)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// signer is a key of gpg.
type signer struct {
	t           *testing.T
	home        string
	fingerprint string
}

// newSigner creates a key that expires after some days; 0 is never.
func newSigner(t *testing.T, days int) *signer {
	t.Helper()
	needs(t, "gpg", "gpgconf")
	home, err := os.MkdirTemp("", "upstream-gpg-") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &signer{t: t, home: home}
	t.Cleanup(func() {
		cmd := exec.Command("gpgconf", "--homedir", home, "--kill", "gpg-agent")
		_ = cmd.Run() // it ends with its directory, too
		_ = os.RemoveAll(home)
	})
	s.gpg("--quick-generate-key", "Packages <packages@example.com>", "rsa2048", "sign", fmt.Sprint(days))
	for line := range strings.Lines(s.gpg("--with-colons", "--list-keys")) {
		if fields := strings.Split(line, ":"); fields[0] == "fpr" {
			s.fingerprint = fields[9]
		}
	}
	return s
}

func (s *signer) gpg(args ...string) string {
	s.t.Helper()
	return run(s.t, s.home, append([]string{"gpg", "--homedir", s.home, "--batch", "--yes", "--pinentry-mode", "loopback", "--passphrase", ""}, args...)...)
}

func (s *signer) key() []byte { s.t.Helper(); return []byte(s.gpg("--armor", "--export")) }

// server serves a directory like upstream or a mirror of it.
type server struct {
	*httptest.Server
	dir string
	// answers are the paths that are answered otherwise.
	answers map[string]http.HandlerFunc
}

func newServer(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{dir: dir, answers: map[string]http.HandlerFunc{}}
	files := http.FileServer(http.Dir(dir))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer := s.answers[r.URL.Path]; answer != nil {
			answer(w, r)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func content(text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(text) }
}

// cut sends a part of a body and closes the connection.
func cut(text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write(text[:len(text)/2])
		_ = http.NewResponseController(w).Flush() // or the client gets nothing at all
		panic(http.ErrAbortHandler)
	}
}

// endless sends more than a document may have.
func endless(w http.ResponseWriter, _ *http.Request) {
	block := []byte(strings.Repeat("x", 1<<20))
	for range 80 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func versions(packages []Package) (out []string) {
	for _, p := range packages {
		out = append(out, p.Name+" "+p.Version+" "+p.Arch)
	}
	slices.Sort(out)
	return out
}

// sameFiles fails unless packages have the digests and addresses of the files that a server has.
func sameFiles(t *testing.T, s *server, packages []Package) {
	t.Helper()
	for _, p := range packages {
		file := read(t, filepath.Join(s.dir, p.Blob.Path))
		sum := sha256.Sum256(file)
		if p.Blob.Digest != "sha256:"+hex.EncodeToString(sum[:]) || p.Blob.Size != int64(len(file)) || p.Blob.URLs[0] != s.URL+"/"+p.Blob.Path {
			t.Errorf("%+v", p)
		}
	}
}

// in returns a clock that is ahead of that of the host.
func in(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }
