package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// host is a host without systemd: units end at once with the listed outcomes, and write the files
// that the real ones would.
type host struct {
	t       *testing.T
	runner  *Runner
	running map[string]sandbox.Outcome
	started []sandbox.Unit
	// outcomes are those of units that do not succeed; logs are what they write.
	outcomes map[string]sandbox.Outcome
	logs     map[string]string
	report   rehearsal.Report // of the API server
	status   string           // the output of `etcdutl snapshot status`
	hash     rehearsal.Report // of etcd
	restored rehearsal.Report // of the restored database
	mounted  map[string]bool
	// variables are those in the environment files of units.
	variables map[string]string
	timedOut  bool // etcd of a hop does not answer in time
	// refuse is the name of a unit whose start systemd refuses.
	refuse string
}

const statusOutput = `{"hash":7,"revision":1973,"totalKey":308,"totalSize":1585152,"version":"3.6.0"}`

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		t: t, running: map[string]sandbox.Outcome{}, outcomes: map[string]sandbox.Outcome{}, logs: map[string]string{}, mounted: map[string]bool{}, variables: map[string]string{},
		status: statusOutput, hash: rehearsal.Report{Ready: true, HashKV: 9, HashRevision: 1973, CompactRevision: 1549},
		restored: rehearsal.Report{Restored: rehearsal.Figures{Revision: 1973, Entries: 900, EntriesHash: 3}},
		report:   rehearsal.Report{Ready: true, Version: "v1.36.3", Listed: 58, Objects: 307},
	}
	h.runner = &Runner{
		Units: h, Dir: filepath.Join(t.TempDir(), "rehearsal"), Agent: "/usr/local/bin/refit-agent", Ctr: "/usr/bin/ctr", Umount: "/usr/bin/umount", Socket: "/run/containerd.sock",
		Available: func() (uint64, error) { return 4 << 30, nil }, Timeouts: DefaultTimeouts(),
	}
	return h
}

// backup returns a backup on the host.
func (h *host) backup() Backup {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), "backup.db")
	if err := os.WriteFile(file, []byte("database"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return Backup{File: file, EtcdImage: "registry.k8s.io/etcd:3.6.6-0", Expected: rehearsal.Figures{Revision: 1973, Keys: 308, Hash: 7, Entries: 900, EntriesHash: 3}}
}

func hopTo(version string) Hop {
	return Hop{
		Version: version, EtcdImage: "registry.k8s.io/etcd:3.6.8-0",
		APIServer: rehearsal.Manifest{Image: "registry.k8s.io/kube-apiserver:" + version, Command: []string{"kube-apiserver", "--v=2"}},
	}
}

func (h *host) Start(_ context.Context, u sandbox.Unit) error {
	if err := u.Validate(); err != nil {
		return err
	}
	if u.Name == h.refuse {
		return errors.New("refused")
	}
	if _, there := h.running[u.Name]; there {
		return errors.New("unit " + u.Name + " already exists")
	}
	h.started = append(h.started, u)
	outcome, set := h.outcomes[u.Name]
	if !set {
		outcome = sandbox.Outcome{Ended: u.Kind == sandbox.Task, Result: "success"}
	}
	h.running[u.Name] = outcome
	h.write(u.Log, h.logs[u.Name])
	if u.EnvironmentFile != "" {
		h.variables[u.Name] = h.private(u.EnvironmentFile)
	}
	if outcome.Failed() {
		return nil
	}
	h.effect(u)
	return nil
}

// effect does what a unit does that succeeds.
func (h *host) effect(u sandbox.Unit) {
	switch u.Name {
	case unitMount:
		dir := u.Command[len(u.Command)-1]
		h.mounted[dir] = true
		h.write(filepath.Join(dir, "usr/local/bin/etcd"), "")
		h.write(filepath.Join(dir, "usr/local/bin/etcdutl"), "")
		h.write(filepath.Join(dir, "usr/local/bin/kube-apiserver"), "")
	case unitUnmount:
		dir := u.Command[len(u.Command)-1]
		delete(h.mounted, dir)
		if err := os.RemoveAll(filepath.Join(dir, "usr")); err != nil {
			h.t.Error(err)
		}
	case unitStatus:
		h.write(u.Output, h.status)
	case unitRequests, unitRead:
		report := h.hash
		if u.Name == unitRead {
			report = h.restored
		}
		if slices.ContainsFunc(u.Command, func(word string) bool { return strings.HasPrefix(word, "--apiserver=") }) {
			report = h.report
		}
		text, err := json.Marshal(report)
		if err != nil {
			h.t.Error(err)
		}
		h.write(h.runner.file("work", reportName), string(text))
	}
}

// private returns the content of a file that only its owner can read.
func (h *host) private(file string) string {
	h.t.Helper()
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		h.t.Errorf("%v, %v", info, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		h.t.Error(err)
	}
	return string(text)
}

func (h *host) write(file, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		h.t.Error(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		h.t.Error(err)
	}
}

func (h *host) Outcome(_ context.Context, name string) (sandbox.Outcome, error) {
	outcome, there := h.running[name]
	if !there {
		return sandbox.Outcome{}, errors.New("no unit " + name)
	}
	return outcome, nil
}

func (h *host) Wait(ctx context.Context, name string) (sandbox.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return sandbox.Outcome{}, err
	}
	return h.Outcome(ctx, name)
}

func (h *host) Stop(_ context.Context, name string) error {
	delete(h.running, name)
	return nil
}

func (h *host) Names(_ context.Context, prefix string) ([]string, error) {
	var names []string
	for name := range h.running {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// names returns the units in the order of their starts.
func (h *host) names() []string {
	var names []string
	for _, u := range h.started {
		names = append(names, strings.TrimPrefix(u.Name, prefix))
	}
	return names
}

// unit returns the last unit of a name.
func (h *host) unit(name string) sandbox.Unit {
	h.t.Helper()
	for _, u := range slices.Backward(h.started) {
		if u.Name == name {
			return u
		}
	}
	h.t.Fatalf("%s was not started: %v", name, h.names())
	return sandbox.Unit{}
}

// clean fails the test if anything is left on the host.
func (h *host) clean() {
	h.t.Helper()
	if len(h.running) > 0 {
		h.t.Errorf("units are left: %v", h.running)
	}
	if len(h.mounted) > 0 {
		h.t.Errorf("images are left mounted: %v", h.mounted)
	}
	if exists(h.runner.Dir) {
		h.t.Errorf("%s is left", h.runner.Dir)
	}
}
