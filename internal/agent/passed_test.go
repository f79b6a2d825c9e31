package agent

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// An agent may be replaced during a node's upgrade by one that has a step more.
func TestStepThatTheJournalHasPassedIsLoggedOnce(t *testing.T) {
	was := steps.Actions[node.StepEtcd]
	steps.Actions[node.StepEtcd] = steps.Action{Do: func(context.Context, *steps.Host) error { return nil }}
	t.Cleanup(func() { steps.Actions[node.StepEtcd] = was })
	a := newTestAgent(t, &apiStub{})
	upgrade := node.Upgrade{NodeName: nodeName, Role: refitv1alpha1.RoleControlPlane, From: "v1.35.4", To: "v1.36.3"}
	dir := t.TempDir()
	j, err := journal.Create(filepath.Join(dir, "journal"), machineID, node.Record{Kind: node.Opened, Upgrade: &upgrade})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	a.upgrade = &runner{
		journal: j, log: log, changed: a.status.setState,
		host: &steps.Host{Settings: a.Settings, Upgrade: upgrade, Dir: dir, Log: log, ReportWait: a.status.setWaiting, Effect: effectOf("test")},
	}
	records := []node.Record{{Kind: node.Ordered, Order: &node.Order{Permit: refitv1alpha1.PermitApply}}}
	for _, s := range node.Steps(upgrade) {
		if s.Name == node.StepEtcd {
			records = append(records, node.Record{Kind: node.Started, Step: s.Name})
			break
		}
		if s.Name != node.StepPods {
			records = append(records, node.Record{Kind: node.Started, Step: s.Name}, node.Record{Kind: node.Done, Step: s.Name})
		}
	}
	for _, r := range records {
		if err := a.upgrade.write(r); err != nil {
			t.Fatal(err)
		}
	}
	if more, err := a.upgrade.move(t.Context()); err != nil || !more {
		t.Fatalf("%t %v", more, err)
	}
	a.upgrade.logPassed(node.Read(j.Records()))
	if strings.Count(text.String(), "skipping a step") != 1 || !strings.Contains(text.String(), "step="+node.StepPods) {
		t.Errorf("logged:\n%s", text.String())
	}
}
