package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// bundled are options with the time of every journal.
func bundled(t *testing.T) (bundling, host.Options) {
	t.Helper()
	b := bundling{limit: 1 << 20, timeout: time.Minute, redact: []string{"ACME-[0-9]+"}}
	options, err := b.options()
	if err != nil {
		t.Fatal(err)
	}
	options.Window = supportbundle.WindowOf(nil, 0, time.Now())
	return b, options
}

// newAgentHost returns a host that has no journal, but the state of an agent with secrets.
func newAgentHost(t *testing.T) *host.Reader {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(`{"customer":"ACME-4711","token":"hunter2-hunter2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return &host.Reader{Root: "/", StateDir: dir, Status: func(context.Context) ([]byte, error) { return []byte(`{}`), nil }}
}

func TestTheOutputOfHostBundleIsAStream(t *testing.T) {
	b, options := bundled(t)
	var out bytes.Buffer
	if err := b.stream(t.Context(), newAgentHost(t), options, &out); err != nil {
		t.Fatal(err)
	}
	raw, err := archive.ReadStream(&out, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	read, err := archive.ReadHost(bytes.NewReader(raw), 1<<20)
	if err != nil || read.Index == nil || read.Index.Version != version {
		t.Fatalf("%+v, %v", read.Index, err)
	}
	if got := string(read.Files["agent/state.json"]); got != `{"customer":"[redacted:configured]","token":"[redacted:named]"}` {
		t.Errorf("the state is %s", got)
	}
}

func TestSupportBundleCreatesAFile(t *testing.T) {
	b, options := bundled(t)
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	index, err := b.write(t.Context(), "worker-1", newAgentHost(t), options, file)
	if err != nil {
		t.Fatal(err)
	}
	if index.File != file || index.Host != "worker-1" {
		t.Errorf("the index is %+v", index)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := archive.ReadHost(bytes.NewReader(text), 1<<20)
	if err != nil || len(read.Files) == 0 {
		t.Errorf("%d files, %v", len(read.Files), err)
	}
	if _, err := b.write(t.Context(), "worker-1", newAgentHost(t), options, file); err == nil || !strings.Contains(err.Error(), "not replaced") {
		t.Errorf("a second bundle in the same file: %v", err)
	}
}

func TestAnInterruptedSupportBundleLeavesNoFile(t *testing.T) {
	b, options := bundled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := b.write(ctx, "worker-1", newAgentHost(t), options, filepath.Join(dir, "x.tar.gz")); err == nil {
		t.Error("there is no error")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v remains, %v", left, err)
	}
}

func TestInvalidFlagsOfSupportBundles(t *testing.T) {
	times := []string{"--since", "2026-11-19T08:00:00Z", "--until", "2026-11-19T09:00:00Z"}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"host-bundle"}, "--since must be a time"},
		{append([]string{"host-bundle", "--max-bytes", "1"}, times...), "the size per host must be between"},
		{append([]string{"host-bundle", "--timeout", "2h"}, times...), "the timeout of a host must be between"},
		{append([]string{"host-bundle", "--redact", "("}, times...), "--redact: error parsing"},
		{[]string{"host-bundle", "/etc/kubernetes/admin.conf"}, "unexpected argument"},
		{[]string{"support-bundle", "--max-size", "much"}, "--max-size must be a size"},
		{[]string{"support-bundle", "--max-size", "1Ti"}, "the size per host must be between"},
		{[]string{"support-bundle", "--since", "-1h"}, "--since must be positive"},
		{[]string{"support-bundle", "-o", "xml"}, "--output must be text"},
	} {
		if out, err := run(t, c.args...); err == nil || !strings.Contains(describe(err), c.says) || out != "" {
			t.Errorf("%v: %v, want %q; stdout %q", c.args, err, c.says, out)
		}
	}
}

// A collector Pod has the directories of the journal, and nothing may lead it elsewhere.
func TestNoFlagOfHostBundleNamesAFile(t *testing.T) {
	root := command(&bytes.Buffer{}, &bytes.Buffer{})
	c, _, err := root.Find([]string{"host-bundle"})
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	for flag := range strings.Lines(c.LocalNonPersistentFlags().FlagUsages()) {
		if name, ok := strings.CutPrefix(strings.Fields(flag)[0], "--"); ok {
			flags = append(flags, name)
		}
	}
	if want := []string{"max-bytes", "redact", "since", "timeout", "until"}; !slices.Equal(slices.DeleteFunc(flags, func(f string) bool { return f == "help" }), want) {
		t.Errorf("the flags are %v, want %v: change the admission policy refit-agent-namespace, too", flags, want)
	}
}
