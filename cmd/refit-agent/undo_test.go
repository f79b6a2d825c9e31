package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// upgradedWorker is a worker whose kubelet an operation replaced. It returns the path of that
// kubelet.
func upgradedWorker(t *testing.T) (h fakeHost, kubelet string) {
	t.Helper()
	h = newHost(t)
	dir := filepath.Join(h.dir, "upgrades", upgradeName)
	kubelet = filepath.Join(t.TempDir(), "kubelet")
	h.write(t, kubelet, "old")
	h.write(t, kubelet+".next", "new")
	for _, err := range []error{
		host.Save(filepath.Join(dir, "saved"), nil), host.Stage(kubelet+".next", kubelet, 0o755), host.Swap(kubelet, digestOf("old"), digestOf("new")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h.write(t, filepath.Join(dir, "inventory.json"),
		fmt.Sprintf(`{"files":[{"part":"kubelet","name":"kubelet","path":%q,"was":%q,"will":%q}]}`, kubelet, digestOf("old"), digestOf("new")))
	work := node.Upgrade{MachineID: h.machine, NodeName: "worker-1", Role: refitv1alpha1.RoleWorker, From: "v1.35.4", To: "v1.36.3"}
	at := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	j, err := journal.Create(filepath.Join(dir, "journal"), h.machine, node.Record{At: at, Kind: node.Opened, Upgrade: &work})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, r := range join([]node.Record{apply()}, step(node.StepKubelet, node.Started, node.Done), []node.Record{{Kind: node.Finished, Outcome: refitv1alpha1.NodeSucceeded}}) {
		r.At = at
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Last: upgradeName})
	return h, kubelet
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestUndoLongAfterSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		since func(t *testing.T, h fakeHost, kubelet string)
		want  []string // in the output or the refusal
		fails bool
	}{
		"nothing has changed": {
			func(*testing.T, fakeHost, string) {}, []string{"Restored:", "kubelet", "undo --yes"}, false,
		},
		"the kubelet was upgraded again": {
			func(t *testing.T, h fakeHost, kubelet string) { t.Helper(); h.write(t, kubelet, "newer") },
			[]string{"kubelet: it was changed since the operation wrote it", "ManualInterventionRequired, ChangedSince", "remedy:"},
			true,
		},
		"the previous kubelet is missing": {
			func(t *testing.T, _ fakeHost, kubelet string) {
				t.Helper()
				if err := host.DiscardPrevious(kubelet); err != nil {
					t.Fatal(err)
				}
			}, []string{"the previous file is not kept any more"}, true,
		},
		"an operation of an older agent": {
			func(t *testing.T, h fakeHost, _ string) {
				t.Helper()
				h.write(t, filepath.Join(h.dir, "upgrades", upgradeName, "saved", "index.json"), `{"format":1,"paths":["/etc/kubernetes/pki"]}`)
			}, []string{"ManualInterventionRequired, SavedTooOld", "Install the refit-agent that ran this operation"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, kubelet := upgradedWorker(t)
			c.since(t, h, kubelet)
			before := files(t, h.dir) + files(t, filepath.Dir(kubelet))
			out, err := h.run(t, "undo")
			if c.fails != (err != nil) {
				t.Fatalf("%v\n%s", err, out)
			}
			if err != nil {
				out += describe(err)
			}
			for _, text := range c.want {
				if !strings.Contains(out, text) {
					t.Errorf("%q is not in\n%s", text, out)
				}
			}
			if after := files(t, h.dir) + files(t, filepath.Dir(kubelet)); before != after {
				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestStatusListsWhatTheRollbackDidNotChange(t *testing.T) {
	h := newHost(t)
	left := []string{"ConfigMap kube-system/kubeadm-config: other nodes rely on it: cp-2"}
	h.journal(t, join(prepared(), step(node.StepUploadConfig, node.Started, node.Done), []node.Record{
		{Kind: node.RollbackStarted}, {Kind: node.Kept, Step: node.StepUploadConfig, Left: left}, {Kind: node.Finished, Outcome: refitv1alpha1.NodeRolledBack},
	})...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Last: upgradeName})
	out, err := h.run(t, "status")
	if err != nil || !strings.Contains(out, "Not changed by the rollback:\n  "+left[0]+"\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "lock")); err == nil {
		t.Error("status took the lock")
	}
}

func TestUndoOfNothing(t *testing.T) {
	out, err := newHost(t).run(t, "undo")
	if err == nil || err.Error() != "nothing to undo: this host was not upgraded" || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
	h := newHost(t)
	h.journal(t, join(prepared(), []node.Record{{Kind: node.RollbackStarted}, {Kind: node.Finished, Outcome: refitv1alpha1.NodeRolledBack}})...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Last: upgradeName})
	out, err = h.run(t, "undo")
	if err != nil || !strings.HasSuffix(out, "Nothing to undo: this host is rolled back.\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
