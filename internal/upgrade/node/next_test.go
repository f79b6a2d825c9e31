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

// desk plays the agent: it asks Next and writes records, without a host.
type desk struct {
	records []Record
	fails   map[string]*Failure // steps that fail, once each
	did     []string
}

func newDesk(w Work, order Order) *desk {
	d := &desk{fails: map[string]*Failure{}}
	d.write(Record{Kind: Opened, Work: &w})
	d.write(Record{Kind: Ordered, Order: &order})
	return d
}

func (d *desk) write(r Record) {
	r.At = time.Date(2026, 11, 15, 8, 0, len(d.records), 0, time.UTC)
	d.records = append(d.records, r)
}

// turn does one move and says whether there was one.
func (d *desk) turn() bool {
	m := Next(d.records)
	switch m.Kind {
	case Do:
		if !m.Open {
			d.write(Record{Kind: Begun, Step: m.Step.Name})
		}
		d.did = append(d.did, m.Step.Name)
		if f := d.fails[m.Step.Name]; f != nil {
			delete(d.fails, m.Step.Name)
			d.write(Record{Kind: Failed, Step: m.Step.Name, Failure: f})
			return true
		}
		d.write(Record{Kind: Done, Step: m.Step.Name})
	case Return:
		d.write(Record{Kind: PutBack, Failure: m.Why})
		d.did = append(d.did, "put back")
	case Take:
		if !m.Open {
			d.write(Record{Kind: UndoBegun, Step: m.Step.Name})
		}
		d.did = append(d.did, "undo "+m.Step.Name)
		if f := d.fails["undo "+m.Step.Name]; f != nil {
			delete(d.fails, "undo "+m.Step.Name)
			d.write(Record{Kind: Failed, Step: m.Step.Name, Failure: f})
			return true
		}
		d.write(Record{Kind: Undone, Step: m.Step.Name})
	case Keep:
		d.did = append(d.did, "keep "+m.Step.Name)
		d.write(Record{Kind: Kept, Step: m.Step.Name})
	case End:
		d.did = append(d.did, string(m.Outcome))
		d.write(Record{Kind: Ended, Outcome: m.Outcome})
	case Rest:
		return false
	}
	return true
}

func (d *desk) run() *desk {
	for range 200 {
		if !d.turn() {
			return d
		}
	}
	panic("it does not end: " + strings.Join(d.did, ", "))
}

func (d *desk) order(o Order) *desk { d.write(Record{Kind: Ordered, Order: &o}); return d.run() }

var (
	apply    = Order{Sequence: 1, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	prefetch = Order{Sequence: 1, Permit: refitv1alpha1.PermitPrefetch, Rollback: refitv1alpha1.RollbackAuto}
	broken   = ManualIntervention("Broken", nil, "mend it", "it broke")

	controlPlaneWork = Work{
		Role: refitv1alpha1.RoleFirstControlPlane, Etcd: true, From: "v1.35.4", To: "v1.36.3", Parts: []refitv1alpha1.Part{refitv1alpha1.PartContainerd},
	}
	workerWork = Work{Role: refitv1alpha1.RoleWorker, From: "v1.35.4", To: "v1.36.3"}
)

func attempt(o Order, n int64) Order { o.Sequence, o.Attempt = o.Sequence+n, n; return o }

func TestAControlPlaneNodeIsCarriedThroughEveryStepInOrder(t *testing.T) {
	d := newDesk(controlPlaneWork, apply).run()
	want := `fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, render-manifests, renew-certificates, swap-etcd, ` +
		`swap-apiserver, swap-controllers, upload-config, kubeconfig, kubelet-config, bootstrap-token, swap-containerd, swap-kubelet, addon, post-upgrade, ` +
		`verify-node, Succeeded`
	if got := strings.Join(d.did, ", "); got != want {
		t.Errorf("did\n%s\nwant\n%s", got, want)
	}
}

func TestStories(t *testing.T) {
	for _, story := range []struct {
		name  string
		begin func() *desk
		want  string // what was done after the first step that tells something
		phase refitv1alpha1.NodePhase
	}{
		{
			"a prefetch stops where the host would be changed", func() *desk { return newDesk(workerWork, prefetch).run() },
			"fetch, import-images", refitv1alpha1.NodePrefetched,
		},
		{"a check that fails changes nothing and nothing goes back", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepCheck] = broken
			return d.run()
		}, "fetch, import-images, check-host", refitv1alpha1.NodeFailed},
		{"a retry goes on at the failed step", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepCheck] = broken
			return d.run().order(attempt(apply, 1))
		}, "fetch, import-images, check-host, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, swap-kubelet, post-upgrade, " +
			"verify-node, Succeeded", refitv1alpha1.NodeSucceeded},
		{"a kubelet that does not come up goes back", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepKubelet] = broken
			return d.run()
		}, "fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, swap-kubelet, put back, undo swap-kubelet, " +
			"undo kubelet-config, undo verify-old, RolledBack", refitv1alpha1.NodeRolledBack},
		{"with rollback Manual it rests and asks", func() *desk {
			order := apply
			order.Rollback = refitv1alpha1.RollbackManual
			d := newDesk(workerWork, order)
			d.fails[StepKubelet] = broken
			return d.run()
		}, "fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, swap-kubelet", refitv1alpha1.NodeFailed},
		{"what fails behind the kubelet is done again, not undone", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepPostUpgrade] = broken
			return d.run()
		}, "fetch, import-images, check-host, reserve-disk, save-state, stage-files, kubeadm-preflight, kubelet-config, " +
			"swap-kubelet, post-upgrade", refitv1alpha1.NodeFailed},
		{"an order to put back takes a whole work back, also after its end", func() *desk {
			back := apply
			back.Sequence, back.Permit = 2, refitv1alpha1.PermitRollback
			d := newDesk(workerWork, apply).run()
			d.did = nil
			return d.order(back)
		}, "put back, undo swap-kubelet, undo kubelet-config, undo verify-old, RolledBack", refitv1alpha1.NodeRolledBack},
		{"a way back that fails rests, and a retry goes on with it", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepKubelet], d.fails["undo "+ProveOld] = broken, broken
			d.run()
			d.did = nil
			if phase := Read(d.records).Status().Phase; phase != refitv1alpha1.NodeFailed {
				panic("phase " + phase)
			}
			return d.order(attempt(apply, 1))
		}, "undo verify-old, RolledBack", refitv1alpha1.NodeRolledBack},
		{"one part that cannot be undone does not keep the others from it", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepKubelet], d.fails["undo "+StepKubelet] = broken, broken
			d.run()
			d.did = slices.DeleteFunc(d.did, func(s string) bool { return !strings.HasPrefix(s, "undo") })
			return d
		}, "undo swap-kubelet, undo kubelet-config", refitv1alpha1.NodeFailed},
		{"a Hold does not leave a host from which something was taken away", func() *desk {
			d := newDesk(workerWork, apply)
			for Next(d.records).Step.Name != StepPostUpgrade {
				d.turn()
			}
			d.did = nil
			return d.order(Order{Sequence: 2, Permit: refitv1alpha1.PermitHold})
		}, "post-upgrade, verify-node, Succeeded", refitv1alpha1.NodeSucceeded},
		{"a failure that says so does not put the host back", func() *desk {
			d := newDesk(workerWork, apply)
			d.fails[StepKubelet] = FailureOf(Staying(broken))
			d.run()
			d.did = d.did[len(d.did)-1:]
			return d
		}, "swap-kubelet", refitv1alpha1.NodeFailed},
		{"a phase of kubeadm that fails does not put a well host back", func() *desk {
			d := newDesk(controlPlaneWork, apply)
			d.fails[StepUploadConfig] = broken
			d.run()
			d.did = d.did[len(d.did)-1:]
			return d
		}, "upload-config", refitv1alpha1.NodeFailed},
		{"an order to put back a host that was only checked proves nothing", func() *desk {
			back := apply
			back.Sequence, back.Permit = 2, refitv1alpha1.PermitRollback
			d := newDesk(workerWork, prefetch).run()
			d.did = nil
			return d.order(back)
		}, "put back, RolledBack", refitv1alpha1.NodeRolledBack},
		{"a Hold before the change rests", func() *desk {
			hold := Order{Sequence: 2, Permit: refitv1alpha1.PermitHold}
			d := newDesk(workerWork, prefetch).run()
			d.did = nil
			return d.order(hold)
		}, "", refitv1alpha1.NodeIdle},
	} {
		t.Run(story.name, func(t *testing.T) {
			d := story.begin()
			if got := strings.Join(d.did, ", "); got != story.want {
				t.Errorf("did\n%s\nwant\n%s", got, story.want)
			}
			if got := Read(d.records).Status().Phase; got != story.phase {
				t.Errorf("phase %s, want %s", got, story.phase)
			}
		})
	}
}

func TestEtcdAndContainerdStayWhenALaterPartFails(t *testing.T) {
	d := newDesk(controlPlaneWork, apply)
	d.fails[StepKubelet] = broken
	d.run()
	want := "put back, undo swap-kubelet, keep swap-containerd, undo kubelet-config, undo kubeconfig, undo swap-controllers, undo swap-apiserver, " +
		"keep swap-etcd, " +
		"keep renew-certificates, undo verify-old, undo upload-config, RolledBack"
	if got := strings.Join(d.did[slices.Index(d.did, "put back"):], ", "); got != want {
		t.Errorf("did\n%s\nwant\n%s", got, want)
	}
}

func TestEtcdThatFailsItsOwnProofGoesBack(t *testing.T) {
	d := newDesk(controlPlaneWork, apply)
	d.fails[StepEtcd] = broken
	d.run()
	want := "put back, undo swap-etcd, keep renew-certificates, undo verify-old, RolledBack"
	if got := strings.Join(d.did[slices.Index(d.did, "put back"):], ", "); got != want {
		t.Errorf("did\n%s\nwant\n%s", got, want)
	}
	if e := Read(d.records).Status().Error; e == nil || e.Step != StepEtcd || e.Reason != "Broken" {
		t.Errorf("the status does not say why the host went back: %+v", e)
	}
}

// An agent can die after any record. Whatever was cut off is probed or repeated, and the end is the same.
func TestAKillAfterAnyRecordLeadsToTheSameEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		work := rapid.SampledFrom([]Work{controlPlaneWork, workerWork}).Draw(t, "work")
		steps := Steps(work)
		clean := newDesk(work, apply)
		killed := newDesk(work, apply)
		if rapid.Bool().Draw(t, "fails") {
			step := rapid.SampledFrom(steps).Draw(t, "step").Name
			clean.fails[step], killed.fails[step] = broken, broken
		}
		clean.run()
		for range 500 {
			// A kill between the record of a beginning and that of its end: the end is not written.
			if m := Next(killed.records); rapid.IntRange(0, 3).Draw(t, "kill") == 0 && !m.Open {
				switch m.Kind {
				case Do:
					killed.write(Record{Kind: Begun, Step: m.Step.Name})
				case Take:
					killed.write(Record{Kind: UndoBegun, Step: m.Step.Name})
				case Rest, Return, Keep, End:
				}
			}
			if !killed.turn() {
				break
			}
		}
		if a, b := fmt.Sprint(clean.did), fmt.Sprint(killed.did); a != b {
			t.Fatalf("clean run:  %s\nkilled run: %s", a, b)
		}
		a, b := Read(clean.records).Status(), Read(killed.records).Status()
		if a.Phase != b.Phase || len(a.Steps) != len(b.Steps) {
			t.Fatalf("clean run ends %s, killed run %s", a.Phase, b.Phase)
		}
	})
}

func TestStepsFitTheBoundsOfTheStatus(t *testing.T) {
	if len(all) > refitv1alpha1.MaxSteps {
		t.Errorf("%d steps, the status holds %d", len(all), refitv1alpha1.MaxSteps)
	}
	for _, s := range all {
		if len(s.Name) > 32 || s.What == "" || s.Limit == 0 || s.Undo == "" {
			t.Errorf("step %+v is not whole", s)
		}
		if s.Disrupts && s.Undo == UndoNothing {
			t.Errorf("%s disrupts and cannot be undone", s.Name)
		}
	}
}
