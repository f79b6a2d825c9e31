package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

var update = flag.Bool("update", false, "update the golden files")

// run executes a command line. The settings do not exist unless the arguments name others.
func run(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	c := command(&out, &errs)
	c.SetArgs(append([]string{"--settings", filepath.Join(t.TempDir(), "none.yaml")}, args...))
	err = c.ExecuteContext(t.Context())
	if errs.Len() > 0 {
		t.Logf("stderr: %s", &errs)
	}
	return out.String(), err
}

// golden compares output with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run go test -update):\n%s", path, got)
	}
}

// fakeHost is a state directory with settings. The machine ID is that of this machine.
type fakeHost struct{ machine, dir, settings string }

func newHost(t *testing.T) fakeHost {
	t.Helper()
	id, err := host.Identify()
	if err != nil {
		t.Skipf("this machine has no machine ID: %v", err)
	}
	h := fakeHost{machine: id.MachineID, dir: t.TempDir(), settings: filepath.Join(t.TempDir(), "agent.yaml")}
	h.write(t, h.settings, "stateDir: "+h.dir+"\n")
	return h
}

func (h fakeHost) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// remembers writes the host state.
func (h fakeHost) remembers(t *testing.T, memory node.HostState) {
	t.Helper()
	text, err := json.Marshal(memory)
	if err != nil {
		t.Fatal(err)
	}
	h.write(t, filepath.Join(h.dir, "state.json"), string(text))
}

func (h fakeHost) memory(t *testing.T) (memory node.HostState) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "state.json"))
	if err == nil {
		err = json.Unmarshal(text, &memory)
	}
	if err != nil {
		t.Fatal(err)
	}
	return memory
}

// exampleMachine is the machine ID in golden files, also in docs/agent.md.
const exampleMachine = "f3b16037d0c04e0766126b3bf43ca331"

// orderTime is when the upgrades of these tests were ordered.
var orderTime = time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)

// upgrade is the upgrade of a control plane node.
func (h fakeHost) upgrade() node.Upgrade {
	return node.Upgrade{
		Operation: refitv1alpha1.Operation{Name: "to-v1-36-3", UID: "6d0f4bd6-3c1e-4a7e-9c5f-2f8d6a1b7e90"},
		Release:   refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3", Digest: "sha256:" + strings.Repeat("a", 64)},
		NodeName:  "cp-1", NodeUID: "0b6e8f6a-1111-4222-8333-444444444444", MachineID: h.machine,
		Role: refitv1alpha1.RoleFirstControlPlane, From: "v1.35.4", To: "v1.36.3", Etcd: true,
	}
}

// journal writes the journal of an upgrade. A record without a time is one second after the last.
func (h fakeHost) journal(t *testing.T, records ...node.Record) {
	t.Helper()
	work, at := h.upgrade(), orderTime
	path := filepath.Join(h.dir, "upgrades", upgradeName, "journal")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(path, h.machine, node.Record{At: at, Kind: node.Opened, Upgrade: &work})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		at = at.Add(time.Second)
		if r.At.IsZero() {
			r.At = at
		}
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func (h fakeHost) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := run(t, append([]string{"--settings", h.settings}, args...)...)
	return strings.ReplaceAll(out, h.machine, exampleMachine), err
}
