package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestStatusDocument(t *testing.T) {
	h := newHost(t)
	h.journal(t, until(history(h.upgrade(), nil), node.Started, node.StepAPIServer)...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: upgradeName})
	text, err := h.run(t, "status", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var got, fromYAML cliv1alpha1.HostStatus
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got.Kind != cliv1alpha1.KindHostStatus || got.Node != "cp-1" || got.Phase != "Applying" || got.Step.Name != node.StepAPIServer || got.Agent != nil || got.Sequence != 12 {
		t.Errorf("%s", text)
	}
	if time.Since(got.ObservedAt) > time.Minute {
		t.Errorf("observed at %s", got.ObservedAt)
	}
	got.ObservedAt = orderTime
	stable, err := encode(got, "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "status-document", string(stable))
	text, err = h.run(t, "status", "-o", "yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(text), &fromYAML); err != nil || fromYAML.Step == nil || *fromYAML.Step != *got.Step {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestDocumentOfAHostWithoutUpgrades(t *testing.T) {
	out, err := newHost(t).run(t, "status", "-o", "json")
	if err != nil || !strings.Contains(out, `"phase": "Idle"`) || !strings.Contains(out, `"steps": []`) {
		t.Errorf("%v\n%s", err, out)
	}
}

// buffer is written by the command and read by the test.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// await waits until a stream contains a text.
func (b *buffer) await(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(b.String(), want); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q is not in %q", want, b.String())
		}
	}
}

// agentAt serves one document until stop is called.
func agentAt(t *testing.T, path, document string) (stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "event: status\ndata: %s\n\n", document)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return func() { _ = server.Close() }
}

func TestFollow(t *testing.T) {
	dir, err := os.MkdirTemp("", "refit") //nolint:usetesting // the path of a unix socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for format, want := range map[string][2]string{
		"text": {"08:00:00  Applying, swap-apiserver\n", "08:00:09  Failed, failed: it \u00a0[31m crashes (ContainerCrashes)\n"},
		"json": {`"phase":"Applying"`, `\u001b[31m`},
	} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(dir, format)
			stop := agentAt(t, path, `{"observedAt":"2026-10-01T08:00:00Z","phase":"Applying","step":{"name":"swap-apiserver"}}`)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out, errs buffer
			c := command(&out, &errs)
			// The settings are only for root, so that --follow must not read them.
			c.SetArgs([]string{"--settings", filepath.Join(dir, "none.yaml"), "status", "--follow", "-o", format, "--socket", path})
			ended := make(chan error, 1)
			go func() { ended <- c.ExecuteContext(ctx) }()
			out.await(t, want[0])
			stop()
			errs.await(t, "cannot follow the agent, connecting again: ")
			agentAt(t, path, `{"observedAt":"2026-10-01T08:00:09Z","phase":"Failed","error":{"message":"it \u001b[31m crashes","reason":"ContainerCrashes"}}`)
			errs.await(t, "connected to the agent\n")
			out.await(t, strings.ReplaceAll(want[1], "\u00a0", " "))
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("interrupted: %v", err)
			}
			if strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 2 {
				t.Errorf("%q", out.String())
			}
			if strings.Count(errs.String(), "\n") != 2 {
				t.Errorf("each change of the connection is one line: %q", errs.String())
			}
		})
	}
}
