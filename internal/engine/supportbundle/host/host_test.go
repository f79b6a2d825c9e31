package host

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start is the time of the first entry of the journal in testdata, which has one per second.
var start = time.Unix(1763539200, 0).UTC()

// newHost returns a host with a journal, and with an agent.
func newHost(t *testing.T) *Reader {
	t.Helper()
	root := t.TempDir()
	f, err := os.Open("../journald/testdata/compact-zstd.journal.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	journal, err := io.ReadAll(z)
	must(t, err)
	write(t, filepath.Join(root, "var/log/journal/f3b1/system.journal"), string(journal))
	write(t, filepath.Join(root, "var/lib/refit/state.json"), `{"sequence":7}`)
	write(t, filepath.Join(root, "var/lib/refit/upgrades/Op_1/journal"), "1a2b3c4d {\"kind\":\"Opened\",\"token\":\"planted-1\"}\n")
	write(t, filepath.Join(root, "var/lib/refit/upgrades/Op_1/pki/ca.key"), "planted-2")
	return &Reader{Root: root, StateDir: DefaultStateDir, Status: func(context.Context) ([]byte, error) { return []byte(`{"phase":"Applying"}`), nil }}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

func partsOf(t *testing.T, r *Reader, w supportbundle.Window, limit int64) map[string]archive.Part {
	t.Helper()
	out := map[string]archive.Part{}
	for _, p := range r.Read(t.Context(), Options{Window: w, Limit: limit, Redact: redact.New(), Report: func(string) {}}) {
		if p.Path != "" && !supportbundle.IsHostPart(p.Path) {
			t.Errorf("a collector refuses %s", p.Path)
		}
		if strings.Contains(string(p.Content), "planted") {
			t.Errorf("%s has a secret: %s", p.Path, p.Content)
		}
		out[p.Path] = p
	}
	return out
}

var always = supportbundle.Window{Since: start.Add(-time.Hour), Until: start.Add(time.Hour)}

func TestPartsOfAHost(t *testing.T) {
	parts := partsOf(t, newHost(t), always, 1<<20)
	for path, want := range map[string]string{
		"status.json": `{"phase":"Applying"}`, "agent/state.json": `{"sequence":7}`,
		"agent/upgrade-op-1.journal": "1a2b3c4d {\"kind\":\"Opened\",\"token\":\"[redacted:named]\"}\n",
	} {
		if got := string(parts[path].Content); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	kubelet := parts["journal/kubelet.log"]
	if kubelet.Items != 100 || !strings.Contains(string(kubelet.Content), "2025-11-19T08:00:04.000000Z kubelet[100]: message 4 of kubelet.service\n") {
		t.Errorf("the journal of the kubelet has %d entries: %.200s", kubelet.Items, kubelet.Content)
	}
	if !strings.Contains(string(kubelet.Content), "line one\n    line two\n    \\x1b[31mred\n") {
		t.Error("lines of a message are not indented, or not escaped")
	}
	if len(parts) != 6 {
		t.Errorf("there are %d parts", len(parts))
	}
}

func TestAJournalIsBounded(t *testing.T) {
	parts := partsOf(t, newHost(t), supportbundle.Window{Since: start.Add(10 * time.Second), Until: start.Add(20 * time.Second)}, 1<<20)
	if got := parts["journal/kubelet.log"].Items; got != 3 {
		t.Errorf("%d entries of ten seconds", got)
	}
	parts = partsOf(t, newHost(t), always, 3000)
	p := parts["journal/kubelet.log"]
	if !p.Truncated || len(p.Content) > 1000 || !strings.Contains(string(p.Content), "message 396 of") {
		t.Errorf("the last entries are missing: %d bytes, truncated %t", len(p.Content), p.Truncated)
	}
}

func TestAPodHasNoFilesOfTheAgent(t *testing.T) {
	r := newHost(t)
	r.StateDir, r.Status = "", nil
	if parts := partsOf(t, r, always, 1<<20); len(parts) != 3 {
		t.Errorf("there are %d parts", len(parts))
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	parts := (&Reader{Root: t.TempDir()}).Read(t.Context(), Options{Window: always, Limit: 1 << 20, Redact: redact.New(), Report: func(string) {}})
	for _, p := range parts {
		if p.Error == nil || p.Error.Reason != supportbundle.ReasonNoJournal || p.Error.Remedy == "" {
			t.Errorf("%s: %+v", p.Source, p.Error)
		}
	}
	r := newHost(t)
	r.Status = func(context.Context) ([]byte, error) { return nil, errors.New("connection refused") }
	write(t, filepath.Join(r.Root, "var/log/journal/f3b1/system@1.journal"), "damaged")
	found := map[string]cliv1alpha1.BundlePart{}
	for _, p := range r.Read(t.Context(), Options{Window: always, Limit: 1 << 20, Redact: redact.New(), Report: func(string) {}}) {
		found[p.Source] = p.BundlePart
	}
	if e := found["status of refit-agent"].Error; e == nil || !strings.Contains(e.Message, "connection refused") {
		t.Errorf("the status: %+v", e)
	}
	if p := found["journal of kubelet.service"]; p.Items != 100 || !strings.Contains(p.Note, "system@1.journal") {
		t.Errorf("the journal: %+v", p)
	}
}

func TestAnInterruptedReadSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newHost(t)
	for _, p := range r.Read(ctx, Options{Window: always, Limit: 1 << 20, Redact: redact.New(), Report: func(string) {}}) {
		if strings.HasPrefix(p.Path, "journal/") && (p.Error == nil || p.Error.Reason != supportbundle.ReasonInterrupted) {
			t.Errorf("%s: %+v", p.Path, p.Error)
		}
	}
}

func TestABundleOfAHostIsRead(t *testing.T) {
	var out bytes.Buffer
	b := &Bundle{Host: "cp-1", Version: "v0", Now: func() time.Time { return start }}
	index, err := b.Write(t.Context(), newHost(t), Options{Window: always, Limit: 1 << 20, Redact: redact.New(), Report: func(string) {}}, &out)
	must(t, err)
	host, err := archive.ReadHost(&out, 1<<20)
	must(t, err)
	if len(host.Files) != 6 || host.Index.Host != "cp-1" || len(host.Index.Parts) != len(index.Parts) || host.Index.Redactions["named"] != 1 {
		t.Errorf("the bundle is %+v", host.Index)
	}
}
