package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// upgradeName is the directory of an upgrade.
const upgradeName = "6d0f4bd6-3c1e-4a7e-9c5f-2f8d6a1b7e90-aaaaaaaaaaaa-0"

func apply() node.Record {
	return node.Record{Kind: node.Ordered, Order: &node.Order{
		Sequence: 12, Epoch: 2, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto,
	}}
}

func step(name string, kinds ...node.Kind) (out []node.Record) {
	for _, kind := range kinds {
		out = append(out, node.Record{Kind: kind, Step: name})
	}
	return out
}

func join(parts ...[]node.Record) (out []node.Record) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// prepared are the records up to the first disruptive step.
func prepared() []node.Record {
	out := []node.Record{apply()}
	for _, name := range []string{node.StepFetch, node.StepImages, node.StepCheck, node.StepReserve, node.StepSave, node.StepStage} {
		out = append(out, step(name, node.Started, node.Done)...)
	}
	return out
}

// docs/agent.md shows the screen of the rolled back host.
func TestStatusOfAHost(t *testing.T) {
	h := newHost(t)
	crashing := steps.ContainerCrashes("kube-apiserver", 1, "Error: unknown flag: --audit-log-max-size\n")
	missing := node.ManualIntervention("ArtifactNotFound", nil,
		"copy the files of the ClusterRelease to one of the sources, then run refit retry", "no source has kubelet (/srv/refit: file not found)")
	succeeded, rolledBack := history(h.upgrade(), nil), history(h.upgrade(), map[string]*node.Failure{node.StepAPIServer: crashing})
	for name, records := range map[string][]node.Record{
		"in-progress":                until(succeeded, node.Started, node.StepAPIServer),
		"failed-before-first-change": history(h.upgrade(), map[string]*node.Failure{node.StepFetch: missing}),
		"rolling-back":               until(rolledBack, node.Failed, node.StepAPIServer),
		"rolled-back":                rolledBack,
		"succeeded":                  succeeded,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			h.journal(t, records...)
			memory := node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: upgradeName}
			if records[len(records)-1].Kind == node.Finished {
				memory.Last, memory.Open = memory.Open, ""
			}
			h.remembers(t, memory)
			out, err := h.run(t, "status")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "status-"+name, out)
		})
	}
}

func TestStatusWithoutUpgrades(t *testing.T) {
	out, err := newHost(t).run(t, "status")
	if err != nil || !strings.Contains(out, "Upgrade:   none") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A power cut can truncate the last record. The status ignores it, and does not modify the journal.
func TestStatusOfTruncatedJournal(t *testing.T) {
	h := newHost(t)
	h.journal(t, prepared()...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: upgradeName})
	path := filepath.Join(h.dir, "upgrades", upgradeName, "journal")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = text[:len(text)-7]
	h.write(t, path, string(text))
	out, err := h.run(t, "status")
	if err != nil || !strings.Contains(out, "Phase:     Applying") || !strings.Contains(out, node.StepStage) {
		t.Errorf("%v\n%s", err, out)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
		t.Errorf("status modified the journal: %v", err)
	}
}

func TestMissingFileOfSettings(t *testing.T) {
	if _, err := run(t, "status"); err == nil || !strings.HasPrefix(err.Error(), "--settings: ") || !strings.HasSuffix(err.Error(), " does not exist") {
		t.Errorf("got %v", err)
	}
}

func TestStatusErrors(t *testing.T) {
	for name, c := range map[string]struct {
		state    string // MACHINE stands for the machine ID
		settings string
		says     string
	}{
		"state of another machine": {state: `{"format": 1, "machineID": "00000000000000000000000000000000"}`, says: "If this disk was cloned"},
		"state of a newer agent":   {state: `{"format": 99, "machineID": "MACHINE"}`, says: "Install the agent that wrote it"},
		"invalid JSON":             {state: "{", says: "cannot read the state of the agent"},
		"missing journal":          {state: `{"format": 1, "machineID": "MACHINE", "open": "gone"}`, says: "no such file"},
		"misspelled setting":       {settings: "reserve: 64", says: "remedy: Fix "},
		"setting out of bounds":    {settings: "reservedDiskMiB: 0", says: "must be 1 to 4096"},
		"relative path":            {settings: "stateDir: refit", says: "is not an absolute path"},
		"timeout":                  {settings: "timeouts: {etcdSeconds: 1}", says: "the minimum is 5 s"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if c.state != "" {
				h.write(t, filepath.Join(h.dir, "state.json"), strings.ReplaceAll(c.state, "MACHINE", h.machine))
			}
			if c.settings != "" {
				h.write(t, h.settings, c.settings)
			}
			out, err := h.run(t, "status")
			if err == nil || !strings.Contains(describe(err), c.says) || out != "" {
				t.Errorf("%v, want %q in it; stdout %q", err, c.says, out)
			}
		})
	}
}
