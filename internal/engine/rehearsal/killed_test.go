package rehearsal

import (
	"context"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// killed are ends of a process that say nothing about its input.
var killed = map[string]sandbox.Outcome{
	"memory bound":                {Ended: true, Result: "oom-kill", ExitStatus: 9},
	"memory bound of cgroup v1":   {Ended: true, Result: "signal", ExitStatus: 9},
	"time bound":                  {Ended: true, Result: "timeout", ExitStatus: 15},
	"mount that systemd refuses":  {Ended: true, Result: "exit-code", ExitStatus: 226},
	"stopped by an administrator": {Ended: true, Result: "stopped"},
}

// A drill calls a backup bad only if etcd or etcdutl did: a bad backup is deleted.
func TestKilledDrillIsNoBadBackup(t *testing.T) {
	for _, unit := range []string{unitStatus, unitRestore, unitRead, unitEtcd} {
		for name, outcome := range killed {
			t.Run(unit+"/"+name, func(t *testing.T) {
				h := newHost(t)
				h.outcomes[unit] = outcome
				_, err := h.runner.Drill(t.Context(), h.backup())
				if err == nil || node.FailureOf(err).Reason != "UnitInterrupted" || node.FailureOf(err).Remedy == "" {
					t.Errorf("%v, reason %s", err, node.FailureOf(err).Reason)
				}
				h.clean()
			})
		}
	}
}

func TestDrillOnAFullDiskIsNoBadBackup(t *testing.T) {
	for _, unit := range []string{unitRestore, unitEtcd} {
		h := newHost(t)
		h.outcomes[unit] = sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 1}
		h.logs[unit] = `{"level":"panic","msg":"failed to write","error":"write wal: no space left on device"}` + "\n"
		if _, err := h.runner.Drill(t.Context(), h.backup()); err == nil || node.FailureOf(err).Reason != "DiskFull" {
			t.Errorf("%s: %v", unit, err)
		}
	}
}

func TestEtcdThatIsTooSlowIsNoBadBackup(t *testing.T) {
	h := newHost(t)
	h.hash = rehearsal.Report{Error: "context deadline exceeded", TimedOut: true}
	if _, err := h.runner.Drill(t.Context(), h.backup()); err == nil || node.FailureOf(err).Reason != "UnitInterrupted" {
		t.Error(err)
	}
}

// etcd ends between two observations of its unit: the requests report it first.
func TestEtcdKilledDuringItsHashIsNoBadBackup(t *testing.T) {
	h := newHost(t)
	h.hash.Error = "rpc error: code = Unavailable desc = error reading from server: EOF"
	h.runner.Units = &killedAfterTheRequests{host: h}
	if _, err := h.runner.Drill(t.Context(), h.backup()); err == nil || node.FailureOf(err).Reason != "UnitInterrupted" {
		t.Error(err)
	}
}

// killedAfterTheRequests reports that etcd was killed once the requests are over.
type killedAfterTheRequests struct{ *host }

func (k *killedAfterTheRequests) Stop(ctx context.Context, name string) error {
	if _, runs := k.running[unitEtcd]; runs && name == unitRequests {
		k.running[unitEtcd] = killed["memory bound"]
	}
	return k.host.Stop(ctx, name)
}

func TestKilledServerOfAHopIsUnknown(t *testing.T) {
	for name, outcome := range killed {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.outcomes[unitAPIServer] = outcome
			h.logs[unitAPIServer] = "E1116 16:00:00.000001       1 reflector.go:1] x509: certificate signed by unknown authority\n"
			result, err := h.runner.Rehearse(t.Context(), h.backup(), []Hop{hopTo("v1.36.3"), hopTo("v1.37.1")})
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Hops) != 2 || len(result.Hops[0].Findings) != 1 || !result.Hops[0].Findings[0].Unknown || result.Hops[0].Findings[0].Remedy == "" {
				t.Errorf("%+v", result.Hops)
			}
			h.clean()
		})
	}
}
