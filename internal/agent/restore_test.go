package agent

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func manifest(component string) string { return filepath.Join(steps.ManifestsDir, component+".yaml") }

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// killedIn is the agent of a control plane node after a crash during a step: the journal has the
// records, and the manifests of some components are removed, as the step removes them.
func killedIn(t *testing.T, step string, removed ...string) *Agent {
	t.Helper()
	was := steps.ManifestsDir
	steps.ManifestsDir = t.TempDir()
	t.Cleanup(func() { steps.ManifestsDir = was })
	a := newTestAgent(t, &apiStub{})
	a.state.Open = "upgrade-1"
	dir := filepath.Join(a.Settings.UpgradesDir(), a.state.Open)
	must(t, os.MkdirAll(filepath.Join(dir, "rendered"), 0o700))
	var paths []string
	for _, component := range kubeadm.Components() {
		rendered := filepath.Join(dir, "rendered", component+".yaml")
		must(t, os.WriteFile(manifest(component), []byte("old "+component), 0o600))
		must(t, os.WriteFile(rendered, []byte("new "+component), 0o600))
		must(t, host.Stage(rendered, manifest(component), 0o600))
		paths = append(paths, manifest(component))
	}
	must(t, host.Save(filepath.Join(dir, "saved"), paths))
	for _, component := range removed {
		digest, err := host.Digest(manifest(component))
		must(t, err)
		must(t, host.MoveAside(manifest(component), digest))
	}
	writeJournal(t, a, step)
	must(t, saveState(a.Settings.StateFile(), a.state))
	return a
}

// writeJournal writes the journal of an upgrade whose agent died in a step.
func writeJournal(t *testing.T, a *Agent, step string) {
	t.Helper()
	spec := goodOrder("sha256:aa").Spec
	upgrade := node.Upgrade{
		Operation: spec.Operation, Release: spec.Release, NodeUID: nodeUID, NodeName: nodeName, Role: refitv1alpha1.RoleControlPlane,
		Etcd: true, StopAPIServer: true, From: "v1.35.4", To: "v1.36.3",
	}
	j, err := journal.Create(a.journalFile(a.state.Open), machineID, node.Record{Kind: node.Opened, Upgrade: &upgrade})
	must(t, err)
	order := node.Order{Operation: spec.Operation.UID, Sequence: 7, Epoch: 3, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	must(t, j.Append(node.Record{Kind: node.Ordered, Order: &order}))
	for _, s := range node.Steps(upgrade) {
		must(t, j.Append(node.Record{Kind: node.Started, Step: s.Name}))
		if s.Name == step {
			break
		}
		must(t, j.Append(node.Record{Kind: node.Done, Step: s.Name}))
	}
	must(t, j.Close())
}

// openUpgrade loads the upgrade of an agent without its ClusterRelease.
func openUpgrade(t *testing.T, a *Agent) {
	t.Helper()
	j, err := journal.Open(a.journalFile(a.state.Open), machineID)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	log := slog.New(slog.DiscardHandler)
	a.upgrade = &runner{journal: j, log: log, changed: a.status.setState, host: &steps.Host{
		Settings: a.Settings, Upgrade: *node.Read(j.Records()).Upgrade, Dir: filepath.Dir(a.journalFile(a.state.Open)), Log: log,
		ReportWait: a.status.setWaiting, Effect: effectOf("test"),
	}}
}

// Another package manager may run for half an hour.
func TestControlPlaneIsRestoredBeforeTheFirstWait(t *testing.T) {
	for step, removed := range map[string][]string{
		node.StepEtcd:        {kubeadm.APIServer, kubeadm.Etcd},
		node.StepAPIServer:   {kubeadm.APIServer},
		node.StepControllers: {kubeadm.ControllerManager, kubeadm.Scheduler},
	} {
		t.Run(step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := killedIn(t, step, removed...)
				was := steps.Actions[step]
				t.Cleanup(func() { steps.Actions[step] = was })
				waited := false
				steps.Actions[step] = steps.Action{Await: func(ctx context.Context, _ *steps.Host) error {
					waited = true
					for _, component := range removed {
						if !isThere(manifest(component)) {
							t.Errorf("the agent waits without %s", component)
						}
					}
					<-ctx.Done()
					return ctx.Err()
				}}
				must(t, a.readState())
				openUpgrade(t, a)
				ctx, cancel := context.WithCancel(t.Context())
				go func() { synctest.Wait(); cancel() }()
				_ = a.loop(ctx)
				if !waited {
					t.Error("the agent did not wait")
				}
			})
		})
	}
}

// An agent that cannot trust or read its state refuses to run. The control plane comes back first.
func TestControlPlaneIsRestoredByAnAgentThatRefusesToRun(t *testing.T) {
	stopped := []string{kubeadm.APIServer, kubeadm.Etcd}
	for reason, spoil := range map[string]func(a *Agent) error{
		"StateUnsafe":    func(a *Agent) error { return os.Chmod(a.Settings.StateFile(), 0o666) },
		"StateCorrupted": func(a *Agent) error { return os.WriteFile(a.Settings.StateFile(), []byte(`{"for`), 0o600) },
		"StateNewer":     func(a *Agent) error { return os.WriteFile(a.Settings.StateFile(), []byte(`{"format":9}`), 0o600) },
		"OtherMachine":   func(a *Agent) error { a.id.MachineID = "of the clone"; return nil },
	} {
		t.Run(reason, func(t *testing.T) {
			a := killedIn(t, node.StepEtcd, stopped...)
			must(t, spoil(a))
			for range 2 { // systemd restarts the agent
				if err := a.readState(); err == nil || node.FailureOf(err).Reason != reason || node.FailureOf(err).Remedy == "" {
					t.Errorf("error %v", err)
				}
				wantOld(t, stopped...)
			}
		})
	}
}

// A restore of etcd moves the manifests back itself, after the data.
func TestControlPlaneStaysStoppedDuringARestoreOfEtcd(t *testing.T) {
	stopped := []string{kubeadm.APIServer, kubeadm.Etcd}
	a := killedIn(t, node.StepEtcd, stopped...)
	run := filepath.Join(a.Settings.RestoresDir(), "1777863600000")
	must(t, os.MkdirAll(run, 0o700))
	must(t, os.WriteFile(filepath.Join(run, "plan.json"), []byte("{}"), 0o600))
	j, err := journal.Create(filepath.Join(run, "journal"), machineID, node.Record{Kind: node.Opened})
	must(t, err)
	must(t, j.Close())
	must(t, a.readState())
	for _, component := range stopped {
		if isThere(manifest(component)) {
			t.Errorf("%s was started during a restore", component)
		}
	}
}

// Without a journal, the files beside a manifest show that a swap was interrupted.
func TestControlPlaneIsRestoredWithoutAReadableJournal(t *testing.T) {
	for situation, spoil := range map[string]func(a *Agent) error{
		"the journal is damaged": func(a *Agent) error {
			return os.WriteFile(a.journalFile("upgrade-1"), []byte("{}\nnot a record\n{}\n"), 0o600)
		},
		"the journal is lost": func(a *Agent) error { return os.Remove(a.journalFile("upgrade-1")) },
		"the saved state is damaged": func(a *Agent) error {
			return os.WriteFile(filepath.Join(a.Settings.UpgradesDir(), "upgrade-1/saved/index.json"), nil, 0o600)
		},
		"the state directory is lost": func(a *Agent) error { return os.RemoveAll(a.Settings.StateDir) },
		"the upgrade is lost":         func(a *Agent) error { return os.RemoveAll(filepath.Join(a.Settings.UpgradesDir(), "upgrade-1")) },
	} {
		t.Run(situation, func(t *testing.T) {
			a := killedIn(t, node.StepEtcd, kubeadm.APIServer, kubeadm.Etcd)
			must(t, spoil(a))
			must(t, a.readState())
			wantOld(t, kubeadm.APIServer, kubeadm.Etcd)
		})
	}
}

// A manifest that is missing for another reason is its owner's decision, also without a journal.
func TestManifestThatRefitDidNotRemoveStaysRemoved(t *testing.T) {
	for situation, spoil := range map[string]func(a *Agent) error{
		"the journal is readable": func(*Agent) error { return nil },
		"the journal is damaged":  func(a *Agent) error { return os.WriteFile(a.journalFile("upgrade-1"), nil, 0o600) },
		"no upgrade is open": func(a *Agent) error {
			a.state.Open = ""
			return saveState(a.Settings.StateFile(), a.state)
		},
	} {
		t.Run(situation, func(t *testing.T) {
			a := killedIn(t, node.StepCertificates)
			must(t, spoil(a))
			must(t, os.Remove(manifest(kubeadm.Scheduler)))
			must(t, a.readState())
			if isThere(manifest(kubeadm.Scheduler)) {
				t.Error("it was restored")
			}
		})
	}
}

// After a swap the previous manifest is kept, but the new one is not staged any more.
func TestReplacedManifestThatWasRemovedSinceStaysRemoved(t *testing.T) {
	a := killedIn(t, node.StepCertificates)
	was, err := host.Digest(manifest(kubeadm.APIServer))
	must(t, err)
	will, err := host.Digest(filepath.Join(a.Settings.UpgradesDir(), "upgrade-1/rendered/kube-apiserver.yaml"))
	must(t, err)
	must(t, host.Swap(manifest(kubeadm.APIServer), was, will))
	must(t, os.Remove(manifest(kubeadm.APIServer)))
	must(t, os.WriteFile(a.Settings.StateFile(), nil, 0o600))
	if err := a.readState(); err == nil || isThere(manifest(kubeadm.APIServer)) {
		t.Errorf("restored: %t, error %v", isThere(manifest(kubeadm.APIServer)), err)
	}
}

func wantOld(t *testing.T, components ...string) {
	t.Helper()
	for _, component := range components {
		if text, err := os.ReadFile(manifest(component)); err != nil || string(text) != "old "+component {
			t.Errorf("%s holds %q, %v", component, text, err)
		}
	}
}

// An administrator stops a component by moving its manifest away, also while a failed step is open.
func TestManifestThatItsOwnerRemovesAfterAFailureStaysRemoved(t *testing.T) {
	a := killedIn(t, node.StepEtcd, kubeadm.APIServer, kubeadm.Etcd)
	must(t, a.readState())
	openUpgrade(t, a)
	must(t, a.upgrade.write(node.Record{Kind: node.Failed, Step: node.StepEtcd, Failure: &node.Failure{Reason: "EtcdLocked", NoRollback: true}}))
	a.rest()
	wantOld(t, kubeadm.APIServer, kubeadm.Etcd)
	must(t, os.Remove(manifest(kubeadm.APIServer)))
	for situation, run := range map[string]func(){
		"the agent rests":    a.rest,
		"the agent restarts": func() { must(t, a.readState()) },
	} {
		if run(); isThere(manifest(kubeadm.APIServer)) {
			t.Errorf("%s: the manifest was restored", situation)
		}
	}
}

// An agent that cannot even start must not leave the host without a control plane. If another
// process holds its lock, the manifests are the business of that process.
func TestControlPlaneIsRestoredByAnAgentThatCannotStart(t *testing.T) {
	for situation, tt := range map[string]struct {
		spoil func(t *testing.T, a *Agent) error
		kept  bool
	}{
		"the machine ID is unreadable": {func(t *testing.T, _ *Agent) error {
			t.Helper()
			was := identify
			t.Cleanup(func() { identify = was })
			identify = func() (host.Identity, error) { return host.Identity{}, os.ErrPermission }
			return nil
		}, false},
		"the state directory is a file": {func(_ *testing.T, a *Agent) error {
			return errors.Join(os.RemoveAll(a.Settings.StateDir), os.WriteFile(a.Settings.StateDir, nil, 0o600))
		}, false},
		"the lock cannot be opened": {func(_ *testing.T, a *Agent) error { return os.Mkdir(a.Settings.LockFile(), 0o700) }, false},
		"another process holds the lock": {func(t *testing.T, a *Agent) error {
			t.Helper()
			held, err := host.Lock(a.Settings.LockFile())
			t.Cleanup(func() { _ = held.Close() })
			return err
		}, true},
	} {
		t.Run(situation, func(t *testing.T) {
			a := killedIn(t, node.StepEtcd, kubeadm.APIServer, kubeadm.Etcd)
			must(t, tt.spoil(t, a))
			if err := Run(t.Context(), a.Config); err == nil {
				t.Error("the agent ran")
			}
			if tt.kept != !isThere(manifest(kubeadm.APIServer)) || tt.kept != !isThere(manifest(kubeadm.Etcd)) {
				t.Errorf("the API server is restored: %t, etcd: %t", isThere(manifest(kubeadm.APIServer)), isThere(manifest(kubeadm.Etcd)))
			}
		})
	}
}
