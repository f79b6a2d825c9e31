package rehearsal

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

func TestRehearsalOfTwoHops(t *testing.T) {
	h := newHost(t)
	var messages []string
	h.runner.Progress = func(p Progress) {
		messages = append(messages, p.Message)
		if p.Timeout <= 0 {
			t.Errorf("%q is not bounded", p.Message)
		}
	}
	result, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3"), hopTo("v1.37.1")})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Hops) != 2 || len(result.Hops[0].Findings)+len(result.Hops[1].Findings) > 0 || result.Hops[1].Report.Listed != 58 {
		t.Errorf("%+v", result)
	}
	want := []string{
		"mount", "status", "restore", "read", "etcd", "requests",
		"mount", "mount", "etcd", "requests", "apiserver", "requests",
		"mount", "mount", "etcd", "requests", "apiserver", "requests",
		"unmount", "unmount", "unmount", "unmount", "unmount",
	}
	if got := h.names(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if !slices.Contains(messages, "starting kube-apiserver v1.37.1") {
		t.Errorf("%q", messages)
	}
	h.clean()
}

func TestAPIServerRunsInTheNetworkOfItsEtcd(t *testing.T) {
	h := newHost(t)
	if _, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3")}); err != nil {
		t.Fatal(err)
	}
	u := h.unit(unitAPIServer)
	if u.Sandbox.Joins != unitEtcd || u.Command[0] != "/.refit/image/usr/local/bin/kube-apiserver" || !slices.Contains(u.Command, "--v=2") {
		t.Errorf("%+v", u)
	}
	for _, started := range h.started {
		if started.Sandbox != nil && started.Sandbox.ReadsAll != (started.Name == unitAPIServer) {
			t.Errorf("%s reads files of all owners: %t", started.Name, started.Sandbox.ReadsAll)
		}
	}
	if !slices.ContainsFunc(u.Environment, func(v string) bool { return strings.HasPrefix(v, "GOMEMLIMIT=") }) {
		t.Errorf("the environment is %v", u.Environment)
	}
}

// Every user of a host can read the properties of its units.
func TestEnvironmentOfAManifestIsNoProperty(t *testing.T) {
	h := newHost(t)
	hop := hopTo("v1.36.3")
	hop.APIServer.Env = map[string]string{"PLUGIN_TOKEN": `a secret with "$"`, "GOMEMLIMIT": "1GiB"}
	hop.Etcd = rehearsal.Manifest{Command: []string{"etcd"}, Env: map[string]string{"ETCD_TOKEN": "secret"}}
	if _, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hop}); err != nil {
		t.Fatal(err)
	}
	if got := h.variables[unitAPIServer]; got != "PLUGIN_TOKEN=\"a secret with \\\"\\$\\\"\"\n" {
		t.Errorf("the API server has the variables %q", got)
	}
	for _, u := range h.started {
		if slices.ContainsFunc(append(u.Command, u.Environment...), func(v string) bool { return strings.Contains(v, "secret") }) {
			t.Errorf("%s: %v", u.Name, u.Environment)
		}
	}
	h.clean()
}

func TestFindingsOfAHopEndTheRehearsal(t *testing.T) {
	exited := sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 1}
	for name, c := range map[string]struct {
		change func(*host, *Hop)
		reason rehearsal.Reason
		hops   int // that ran
	}{
		"API server that ends": {func(h *host, _ *Hop) {
			h.outcomes[unitAPIServer], h.logs[unitAPIServer] = exited, "Error: unknown flag: --old\n"
		}, rehearsal.FlagUnknown, 1},
		"memory": {func(h *host, _ *Hop) {
			h.outcomes[unitAPIServer] = sandbox.Outcome{Ended: true, Result: "oom-kill"}
		}, rehearsal.OutOfMemory, 2},
		"readiness": {func(h *host, _ *Hop) {
			h.report = rehearsal.Report{Checks: []string{"informer-sync"}}
		}, rehearsal.NotReady, 1},
		"list": {func(h *host, _ *Hop) {
			h.report.Failures = []rehearsal.FailedRequest{{Resource: rehearsal.Resource{Version: "v1", Resource: "secrets"}, Message: "unable to transform key"}}
		}, rehearsal.DecryptionFailed, 1},
		"tokens": {func(_ *host, hop *Hop) {
			hop.APIServer.Command = append(hop.APIServer.Command, "--token-auth-file=/etc/tokens.csv")
		}, rehearsal.FileMissing, 1},
		"mount": {func(_ *host, hop *Hop) {
			hop.APIServer.Mounts = []rehearsal.Mount{{Path: "/etc/x", HostPath: "/does/not/exist", Type: "File"}}
		}, rehearsal.MountMissing, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			hops := []Hop{hopTo("v1.36.3"), hopTo("v1.37.1")}
			c.change(h, &hops[0])
			result, err := h.runner.Rehearse(t.Context(), h.backup(), hops)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Hops) != c.hops || len(result.Hops[0].Findings) != 1 || result.Hops[0].Findings[0].Reason != c.reason {
				t.Errorf("%+v", result.Hops)
			}
			h.clean()
		})
	}
}

func TestEtcdOfTheTargetThatDoesNotStart(t *testing.T) {
	h := newHost(t)
	second := &laterFailure{host: h, log: "flag provided but not defined: -enable-v2\n"}
	h.runner.Units = second
	result, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3")})
	if err != nil {
		t.Fatal(err)
	}
	if found := result.Hops[0].Findings; len(found) != 1 || found[0].Reason != rehearsal.FlagUnknown || !strings.Contains(found[0].Message, "the etcd of v1.36.3") {
		t.Errorf("%+v", found)
	}
	h.clean()
}

// A server that starts and does not serve is a finding: the next attempt has the same answer.
func TestEtcdOfTheTargetThatDoesNotServe(t *testing.T) {
	h := newHost(t)
	h.runner.Units = &silentLater{h}
	result, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3")})
	if err != nil {
		t.Fatal(err)
	}
	hop := result.Hops[0]
	if len(hop.Findings) != 1 || hop.Findings[0].Reason != rehearsal.NotReady || hop.Findings[0].Object != "the etcd of v1.36.3" || hop.LogTail != "lost its leader" {
		t.Errorf("%+v", hop)
	}
	h.clean()
}

func TestEtcdOfTheTargetThatIsTooSlowIsUnknown(t *testing.T) {
	h := newHost(t)
	h.runner.Units = &silentLater{h}
	h.timedOut = true
	result, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3")})
	if err != nil || len(result.Hops[0].Findings) != 1 || !result.Hops[0].Findings[0].Unknown {
		t.Errorf("%+v, %v", result.Hops, err)
	}
}

// silentLater lets etcd run without serving after the drill.
type silentLater struct{ *host }

func (s *silentLater) Stop(ctx context.Context, name string) error {
	if name == unitEtcd {
		s.hash, s.logs[unitEtcd] = rehearsal.Report{Error: "etcdserver: no leader", TimedOut: s.timedOut}, "lost its leader\n"
	}
	return s.host.Stop(ctx, name)
}

// laterFailure lets etcd fail after the drill.
type laterFailure struct {
	*host
	log string
}

func (l *laterFailure) Stop(ctx context.Context, name string) error {
	if name == unitEtcd {
		l.outcomes[unitEtcd], l.logs[unitEtcd] = sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 2}, l.log
	}
	return l.host.Stop(ctx, name)
}

func TestLittleMemory(t *testing.T) {
	h := newHost(t)
	h.status = `{"hash":7,"revision":1973,"totalKey":308,"totalSize":1073741824}`
	h.runner.Available = func() (uint64, error) { return 3 << 30, nil }
	result, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3")})
	if err != nil || result.Hops[0].Memory.WatchCache {
		t.Fatalf("%+v, %v", result, err)
	}
	if u := h.unit(unitAPIServer); !slices.Contains(u.Command, "--watch-cache=false") || u.Bounds.Memory != result.Hops[0].Memory.APIServer {
		t.Errorf("%+v", u)
	}

	h.runner.Available = func() (uint64, error) { return 1 << 30, nil }
	if _, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3")}); err == nil || node.FailureOf(err).Reason != "MemoryLow" {
		t.Error(err)
	}
	h.clean()
}

func TestTokensOfTheClusterAreKept(t *testing.T) {
	h := newHost(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte("t,u,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(h.runner.file("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	m := rehearsal.Manifest{
		Command: []string{"kube-apiserver", "--token-auth-file=/etc/tokens/tokens.csv"},
		Mounts:  []rehearsal.Mount{{Path: "/etc/tokens", HostPath: dir}},
	}
	if err := h.runner.writeTokens(m); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(h.runner.file("work", "tokens.csv"))
	if err != nil || !strings.HasSuffix(string(text), "\nt,u,1\n") || !strings.Contains(string(text), "system:masters") {
		t.Errorf("%q, %v", text, err)
	}
}
