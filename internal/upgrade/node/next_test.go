package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// simulation simulates the agent: it calls Next and writes records, without a host.
type simulation struct {
	records []Record
	fails   map[string]*Failure // steps that fail, once each
	did     []string
}

func newSimulation(u Upgrade, order Order) *simulation {
	d := &simulation{fails: map[string]*Failure{}}
	d.write(Record{Kind: Opened, Upgrade: &u})
	d.write(Record{Kind: Ordered, Order: &order})
	return d
}

func (d *simulation) write(r Record) {
	r.At = time.Date(2026, 11, 15, 8, 0, len(d.records), 0, time.UTC)
	d.records = append(d.records, r)
}

// step executes one move and reports whether there was one.
func (d *simulation) step() bool {
	m := Next(d.records)
	switch m.Kind {
	case MoveRun:
		if f := d.fails["wait for "+m.Step.Name]; f != nil { // the agent waits before it records the start
			delete(d.fails, "wait for "+m.Step.Name)
			d.write(Record{Kind: Failed, Step: m.Step.Name, Failure: f})
			return true
		}
		if !m.Open {
			d.write(Record{Kind: Started, Step: m.Step.Name})
		}
		d.did = append(d.did, m.Step.Name)
		if f := d.fails[m.Step.Name]; f != nil {
			delete(d.fails, m.Step.Name)
			d.write(Record{Kind: Failed, Step: m.Step.Name, Failure: f})
			return true
		}
		d.write(Record{Kind: Done, Step: m.Step.Name})
	case MoveRollback:
		d.write(Record{Kind: RollbackStarted, Failure: m.Cause})
		d.did = append(d.did, "roll back")
	case MoveUndo:
		if !m.Open {
			d.write(Record{Kind: UndoStarted, Step: m.Step.Name})
		}
		d.did = append(d.did, "undo "+m.Step.Name)
		if f := d.fails["undo "+m.Step.Name]; f != nil {
			delete(d.fails, "undo "+m.Step.Name)
			d.write(Record{Kind: Failed, Step: m.Step.Name, Failure: f})
			return true
		}
		d.write(Record{Kind: Undone, Step: m.Step.Name})
	case MoveKeep:
		d.did = append(d.did, "keep "+m.Step.Name)
		d.write(Record{Kind: Kept, Step: m.Step.Name})
	case MoveFinish:
		d.did = append(d.did, string(m.Outcome))
		d.write(Record{Kind: Finished, Outcome: m.Outcome})
	case MoveWait:
		return false
	}
	return true
}

func (d *simulation) run() *simulation {
	for range 200 {
		if !d.step() {
			return d
		}
	}
	panic("it does not finish: " + strings.Join(d.did, ", "))
}

func (d *simulation) order(o Order) *simulation {
	d.write(Record{Kind: Ordered, Order: &o})
	return d.run()
}

var (
	apply    = Order{Sequence: 1, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	prefetch = Order{Sequence: 1, Permit: refitv1alpha1.PermitPrefetch, Rollback: refitv1alpha1.RollbackAuto}
	broken   = ManualIntervention("Broken", nil, "fix it", "it broke")

	controlPlaneUpgrade = Upgrade{
		Role: refitv1alpha1.RoleFirstControlPlane, Etcd: true, From: "v1.35.4", To: "v1.36.3", Parts: []refitv1alpha1.Part{refitv1alpha1.PartContainerd},
	}
	workerUpgrade = Upgrade{Role: refitv1alpha1.RoleWorker, From: "v1.35.4", To: "v1.36.3"}
)

func attempt(o Order, n int64) Order { o.Sequence, o.Attempt = o.Sequence+n, n; return o }

func TestControlPlaneNodeRunsEveryStepInOrder(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, apply).run()
	want := `fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, render-manifests, renew-certificates, restart-pods, swap-etcd, ` +
		`swap-apiserver, swap-controllers, upload-config, kubeconfig, kubelet-config, bootstrap-token, swap-containerd, swap-kubelet, addon, post-upgrade, ` +
		`verify-node, Succeeded`
	if got := strings.Join(d.did, ", "); got != want {
		t.Errorf("did\n%s\nwant\n%s", got, want)
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func() *simulation
		want  string // the moves that matter
		phase refitv1alpha1.NodePhase
	}{
		{
			"a prefetch stops before the first change", func() *simulation { return newSimulation(workerUpgrade, prefetch).run() },
			"fetch, import-images", refitv1alpha1.NodePrefetched,
		},
		{"a failed check rolls nothing back", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepCheck] = broken
			return d.run()
		}, "fetch, import-images, check-host", refitv1alpha1.NodeFailed},
		{"a retry resumes at the failed step", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepCheck] = broken
			return d.run().order(attempt(apply, 1))
		}, "fetch, import-images, check-host, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, swap-kubelet, post-upgrade, " +
			"verify-node, Succeeded", refitv1alpha1.NodeSucceeded},
		{"a kubelet that does not start is rolled back", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepKubelet] = broken
			return d.run()
		}, "fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, swap-kubelet, roll back, undo swap-kubelet, " +
			"undo kubelet-config, undo verify-old, RolledBack", refitv1alpha1.NodeRolledBack},
		{"rollback Manual waits", func() *simulation {
			order := apply
			order.Rollback = refitv1alpha1.RollbackManual
			d := newSimulation(workerUpgrade, order)
			d.fails[StepKubelet] = broken
			return d.run()
		}, "fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, swap-kubelet", refitv1alpha1.NodeFailed},
		{"a failure after the kubelet is retried, not undone", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepPostUpgrade] = broken
			return d.run()
		}, "fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, " +
			"swap-kubelet, post-upgrade", refitv1alpha1.NodeFailed},
		{"an order to roll back undoes the whole upgrade, even after it finished", func() *simulation {
			back := apply
			back.Sequence, back.Permit = 2, refitv1alpha1.PermitRollback
			d := newSimulation(workerUpgrade, apply).run()
			d.did = nil
			return d.order(back)
		}, "roll back, undo swap-kubelet, undo kubelet-config, undo verify-old, RolledBack", refitv1alpha1.NodeRolledBack},
		{"a failed rollback waits, and a retry resumes it", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepKubelet], d.fails["undo "+StepVerifyOld] = broken, broken
			d.run()
			d.did = nil
			if phase := Read(d.records).Status().Phase; phase != refitv1alpha1.NodeFailed {
				panic("phase " + phase)
			}
			return d.order(attempt(apply, 1))
		}, "undo verify-old, RolledBack", refitv1alpha1.NodeRolledBack},
		{"a failed undo does not stop the others", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepKubelet], d.fails["undo "+StepKubelet] = broken, broken
			d.run()
			d.did = slices.DeleteFunc(d.did, func(s string) bool { return !strings.HasPrefix(s, "undo") })
			return d
		}, "undo swap-kubelet, undo kubelet-config", refitv1alpha1.NodeFailed},
		{"a Hold does not stop a disrupted host", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			for Next(d.records).Step.Name != StepPostUpgrade {
				d.step()
			}
			d.did = nil
			return d.order(Order{Sequence: 2, Permit: refitv1alpha1.PermitHold})
		}, "post-upgrade, verify-node, Succeeded", refitv1alpha1.NodeSucceeded},
		{"a failure with NoRollback does not roll the host back", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails[StepKubelet] = FailureOf(WithoutRollback(broken))
			d.run()
			d.did = d.did[len(d.did)-1:]
			return d
		}, "swap-kubelet", refitv1alpha1.NodeFailed},
		{"a wait before a step that fails does not roll the host back, and a retry starts the step", func() *simulation {
			d := newSimulation(workerUpgrade, apply)
			d.fails["wait for "+StepKubelet] = FailureOf(WithoutRollback(broken))
			d.run()
			if e := Read(d.records).Status(); e.Phase != refitv1alpha1.NodeFailed || e.Error.Step != StepKubelet {
				panic(e.Phase)
			}
			d.did = nil
			return d.order(attempt(apply, 1))
		}, "swap-kubelet, post-upgrade, verify-node, Succeeded", refitv1alpha1.NodeSucceeded},
		{"a failed kubeadm phase does not roll a healthy host back", func() *simulation {
			d := newSimulation(controlPlaneUpgrade, apply)
			d.fails[StepUploadConfig] = broken
			d.run()
			d.did = d.did[len(d.did)-1:]
			return d
		}, "upload-config", refitv1alpha1.NodeFailed},
		{"an order to roll back an unchanged host verifies nothing", func() *simulation {
			back := apply
			back.Sequence, back.Permit = 2, refitv1alpha1.PermitRollback
			d := newSimulation(workerUpgrade, prefetch).run()
			d.did = nil
			return d.order(back)
		}, "roll back, RolledBack", refitv1alpha1.NodeRolledBack},
		{"a Hold before the first change waits", func() *simulation {
			hold := Order{Sequence: 2, Permit: refitv1alpha1.PermitHold}
			d := newSimulation(workerUpgrade, prefetch).run()
			d.did = nil
			return d.order(hold)
		}, "", refitv1alpha1.NodeIdle},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.begin()
			if got := strings.Join(d.did, ", "); got != c.want {
				t.Errorf("did\n%s\nwant\n%s", got, c.want)
			}
			if got := Read(d.records).Status().Phase; got != c.phase {
				t.Errorf("phase %s, want %s", got, c.phase)
			}
		})
	}
}

// An agent may be replaced in the middle of a node by one that has a step more.
func TestStepThatTheFormerAgentDidNotKnowIsNotRunAfterwards(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, Order{Permit: refitv1alpha1.PermitApply})
	for !slices.Contains(d.did, StepPods) {
		d.step()
	}
	d.records = slices.DeleteFunc(d.records, func(r Record) bool { return r.Step == StepPods })
	d.write(Record{Kind: Started, Step: StepEtcd})
	if m := Next(d.records); m.Kind != MoveRun || m.Step.Name != StepEtcd || !m.Open {
		t.Errorf("next is %s %s (open: %t), want the open %s", m.Kind, m.Step.Name, m.Open, StepEtcd)
	}
	if passed := Read(d.records).Passed(); len(passed) != 1 || passed[0].Name != StepPods {
		t.Errorf("passed %v", passed)
	}
	d.write(Record{Kind: RollbackStarted})
	if passed := Read(d.records).Passed(); len(passed) > 0 {
		t.Errorf("passed %v during a rollback", passed)
	}
}

func TestEtcdAndContainerdAreKeptWhenALaterStepFails(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, apply)
	d.fails[StepKubelet] = broken
	d.run()
	want := "roll back, undo swap-kubelet, keep swap-containerd, undo kubelet-config, undo kubeconfig, undo swap-controllers, undo swap-apiserver, " +
		"keep swap-etcd, " +
		"keep restart-pods, keep renew-certificates, undo verify-old, undo upload-config, RolledBack"
	if got := strings.Join(d.did[slices.Index(d.did, "roll back"):], ", "); got != want {
		t.Errorf("did\n%s\nwant\n%s", got, want)
	}
}

func TestUnhealthyEtcdIsRolledBack(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, apply)
	d.fails[StepEtcd] = broken
	d.run()
	want := "roll back, undo swap-etcd, keep restart-pods, keep renew-certificates, undo verify-old, RolledBack"
	if got := strings.Join(d.did[slices.Index(d.did, "roll back"):], ", "); got != want {
		t.Errorf("did\n%s\nwant\n%s", got, want)
	}
	if e := Read(d.records).Status().Error; e == nil || e.Step != StepEtcd || e.Reason != "Broken" {
		t.Errorf("the status does not report the cause of the rollback: %+v", e)
	}
}

// An agent can die after any record. The interrupted step is probed or repeated, and the outcome is
// the same.
func TestKillAfterAnyRecordLeadsToTheSameOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		upgrade := rapid.SampledFrom([]Upgrade{controlPlaneUpgrade, workerUpgrade}).Draw(t, "upgrade")
		steps := Steps(upgrade)
		clean := newSimulation(upgrade, apply)
		killed := newSimulation(upgrade, apply)
		early := false
		if rapid.Bool().Draw(t, "fails") {
			step, failure := rapid.SampledFrom(steps).Draw(t, "step").Name, broken
			if early = rapid.Bool().Draw(t, "before it starts"); early {
				step, failure = "wait for "+step, FailureOf(WithoutRollback(broken))
			}
			clean.fails[step], killed.fails[step] = failure, failure
		}
		clean.run()
		for range 500 {
			// A kill between the first record of a step and its last.
			if m := Next(killed.records); rapid.IntRange(0, 3).Draw(t, "kill") == 0 && !m.Open {
				switch m.Kind {
				case MoveRun:
					killed.write(Record{Kind: Started, Step: m.Step.Name})
				case MoveUndo:
					killed.write(Record{Kind: UndoStarted, Step: m.Step.Name})
				case MoveWait, MoveRollback, MoveKeep, MoveFinish:
				}
			}
			if !killed.step() {
				break
			}
		}
		if a, b := fmt.Sprint(clean.did), fmt.Sprint(killed.did); a != b {
			t.Fatalf("clean run:  %s\nkilled run: %s", a, b)
		}
		a, b := Read(clean.records).Status(), Read(killed.records).Status()
		// A killed step was started before it waits again.
		if a.Phase != b.Phase || (len(a.Steps) != len(b.Steps) && !early) {
			t.Fatalf("clean run finishes %s, killed run %s", a.Phase, b.Phase)
		}
		if a.Error != nil && a.Phase != refitv1alpha1.NodeFailed && Read(clean.records).rollbackCause.NoRollback {
			t.Fatalf("a host that waited was rolled back: %v", clean.did)
		}
	})
}

func TestStepsFitIntoTheStatus(t *testing.T) {
	if len(all) > refitv1alpha1.MaxSteps {
		t.Errorf("%d steps, but the status allows %d", len(all), refitv1alpha1.MaxSteps)
	}
	for _, s := range all {
		if len(s.Name) > 32 || s.Description == "" || s.Limit == 0 || s.Undo == "" {
			t.Errorf("step %+v is incomplete", s)
		}
		if s.Disrupts && s.Undo == UndoNothing {
			t.Errorf("%s disrupts and cannot be undone", s.Name)
		}
	}
}
