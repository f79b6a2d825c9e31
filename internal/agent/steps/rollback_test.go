package steps

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// testHost is a host whose operation has a directory and changes files of a test.
func testHost(t *testing.T) *Host {
	t.Helper()
	return &Host{
		Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Upgrade: node.Upgrade{Role: refitv1alpha1.RoleWorker, From: "v1.35.4", To: "v1.36.3"},
		Effect: func(_ string, change func() error) error { return change() },
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

// A rollback long after a successful upgrade keeps what the operation did not write and
// reports what was changed.
func TestRollbackLongAfterSuccess(t *testing.T) {
	h, pki := testHost(t), t.TempDir()
	config, flags, key, added := filepath.Join(pki, "config.yaml"), filepath.Join(pki, "flags.env"), filepath.Join(pki, "sa.key"), filepath.Join(pki, "encryption.yaml")
	for _, path := range []string{config, flags, key} {
		put(t, path, "old")
	}
	must(t, h.track([]string{config, flags}, func() error {
		put(t, config, "new")
		put(t, flags, "new")
		return nil
	}))
	put(t, key, "rotated since")
	put(t, added, "added since")
	put(t, flags, "changed since")

	must(t, h.rollback("kubelet", config, flags, key, added))
	wantText(t, config, "old")
	wantText(t, flags, "changed since")
	wantText(t, key, "rotated since")
	wantText(t, added, "added since")
	if !slices.Equal(h.Left, []string{flags + ": " + changedSince}) {
		t.Errorf("reported %v", h.Left)
	}
}

func TestStateOfAnOlderAgentIsRefused(t *testing.T) {
	h := testHost(t)
	must(t, h.CheckSaved())
	put(t, h.path("saved", "index.json"), `{"format":1}`)
	if f := node.FailureOf(h.CheckSaved()); f.Reason != "SavedTooOld" || f.Remedy == "" {
		t.Errorf("%+v", f)
	}
	if f := node.FailureOf(h.rollback("kubelet", "/var/lib/kubelet/config.yaml")); f.Reason != "SavedTooOld" {
		t.Errorf("%+v", f)
	}
	if r := h.Review(t.Context()); r.Refusal == nil || r.Refusal.Reason != "SavedTooOld" {
		t.Errorf("%+v", r)
	}
}

func TestReviewOfFiles(t *testing.T) {
	for name, c := range map[string]struct {
		since    string // the content now; empty if the operation wrote it
		restored int
		blocking int
	}{
		"still what the operation wrote": {"", 1, 0},
		"as it was before":               {"old", 0, 0},
		"changed since":                  {"by an administrator", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h, path := testHost(t), filepath.Join(t.TempDir(), "config.yaml")
			put(t, path, "old")
			must(t, h.track([]string{path}, func() error { put(t, path, "new"); return nil }))
			if c.since != "" {
				put(t, path, c.since)
			}
			saved, err := h.saved()
			must(t, err)
			var r Review
			must(t, r.addFiles(saved, []string{path}))
			if len(r.Restored) != c.restored || len(r.blocking) != c.blocking {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestReviewOfBinaries(t *testing.T) {
	swapped := func(t *testing.T) swap {
		t.Helper()
		path := filepath.Join(t.TempDir(), "kubelet")
		put(t, path, "old")
		put(t, path+".next", "new")
		s := swap{path, digestOf([]byte("old")), digestOf([]byte("new")), false}
		must(t, host.Stage(path+".next", path, 0o755))
		must(t, host.Swap(path, s.was, s.will))
		return s
	}
	for name, c := range map[string]struct {
		since func(*testing.T, swap)
		want  string // in the blocking reason
	}{
		"still what the operation wrote": {func(*testing.T, swap) {}, ""},
		"replaced since":                 {func(t *testing.T, s swap) { t.Helper(); put(t, s.path, "newer") }, "changed since"},
		"discarded by a later operation": {func(t *testing.T, s swap) { t.Helper(); must(t, host.DiscardPrevious(s.path)) }, "not kept"},
	} {
		t.Run(name, func(t *testing.T) {
			s := swapped(t)
			c.since(t, s)
			var r Review
			must(t, r.addSwaps([]swap{s}))
			if got := strings.Join(r.blocking, "; "); !strings.Contains(got, c.want) || (got == "") != (c.want == "") || len(r.Restored)+len(r.blocking) != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestReviewOfTheKubeconfig(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		valid time.Duration
		since string
		kept  string // the reason; empty if it is restored
	}{
		"valid for two days":   {valid: 48 * time.Hour},
		"expires within a day": {valid: 23 * time.Hour, kept: expired},
		"expired":              {valid: -time.Hour, kept: expired},
		"changed since":        {valid: 48 * time.Hour, since: "by an administrator", kept: changedSince},
	} {
		t.Run(name, func(t *testing.T) {
			h, path := testHost(t), filepath.Join(t.TempDir(), "kubelet.conf")
			put(t, path, kubeconfig(t, now.Add(c.valid)))
			must(t, h.track([]string{path}, func() error { put(t, path, "new"); return nil }))
			if c.since != "" {
				put(t, path, c.since)
			}
			saved, err := h.saved()
			must(t, err)
			var r Review
			must(t, r.addKubeconfig(saved, path, now))
			if got := strings.Join(r.Kept, ""); len(r.Restored)+len(r.Kept) != 1 || (c.kept != "" && got != path+": "+c.kept) || (c.kept == "") != (got == "") {
				t.Errorf("%+v", r)
			}
		})
	}
}

// An expired kubeconfig must not return through a symlink either.
func TestReviewOfAKubeconfigBehindASymlink(t *testing.T) {
	h, dir := testHost(t), t.TempDir()
	link, target := filepath.Join(dir, "kubelet.conf"), filepath.Join(dir, "elsewhere.conf")
	put(t, target, kubeconfig(t, time.Now().Add(time.Hour)))
	must(t, os.Symlink(target, link))
	must(t, h.track([]string{link}, func() error { put(t, link, "new"); return nil }))
	saved, err := h.saved()
	must(t, err)
	var r Review
	must(t, r.addKubeconfig(saved, link, time.Now()))
	if !slices.Equal(r.Kept, []string{link + ": " + expired}) {
		t.Errorf("%+v", r)
	}
	if err := h.rollbackKubeconfig(link); !errors.Is(err, node.ErrKept) {
		t.Errorf("error %v", err)
	}
	wantText(t, target, "new")
}

// kubeconfig returns a kubeconfig whose client certificate expires at notAfter.
func kubeconfig(t *testing.T, notAfter time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: notAfter.Add(-72 * time.Hour), NotAfter: notAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	encode := func(kind string, bytes []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}))
	}
	return `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {client-certificate-data: ` + encode("CERTIFICATE", der) + `, client-key-data: ` + encode("EC PRIVATE KEY", private) + "}}]\n"
}
