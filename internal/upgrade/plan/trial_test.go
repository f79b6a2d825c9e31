package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// trial is what a Pod would find on a machine, and when it tells.
type trial struct {
	cut   time.Time // since when pods on it reach nothing; zero: they reach everything
	hangs bool      // nobody carries it out
	ends  time.Time // of the one under way
}

// beginTrial writes that a node shall be tried.
func (w *world) beginTrial(m *machine, version int64) bool {
	if m.upgrade == nil || version != m.upgradeVersion {
		return false
	}
	begun := refitv1alpha1.TrialStatus{Sequence: m.upgrade.Spec.Sequence, Phase: refitv1alpha1.TrialRunning, StartTime: stamp(w.now)}
	m.write(func(u *cluster.Upgrade) { u.Status.Trial = &begun })
	return true
}

// try is whoever carries trials out: one that failed is tried again.
func (m *machine) try(w *world) {
	if !m.wantsTrial() || m.trial.hangs || !m.ready || !w.reachable() {
		m.trial.ends = time.Time{}
		return
	}
	if m.trial.ends.IsZero() {
		m.trial.ends = w.now.Add(w.takes(1, 3))
	}
	if w.now.Before(m.trial.ends) {
		return
	}
	m.trial.ends = time.Time{}
	found := *m.upgrade.Status.Trial
	found.Phase, found.Message, found.CompletionTime = refitv1alpha1.TrialPassed, "", stamp(w.now)
	if !m.trial.cut.IsZero() {
		found.Phase, found.Message = refitv1alpha1.TrialFailed, "looking up kubernetes.default.svc: i/o timeout"
	}
	if found.Phase != m.upgrade.Status.Trial.Phase {
		m.write(func(u *cluster.Upgrade) { u.Status.Trial = &found })
	}
}

func (m *machine) wantsTrial() bool {
	u := m.upgrade
	return u != nil && u.Status.Trial != nil && u.Status.Trial.Sequence == u.Spec.Sequence && u.Status.Trial.Phase != refitv1alpha1.TrialPassed
}

func podsCut(w *world) bool {
	m := w.any(func(m *machine) bool { return m.controlPlane && m.trial.cut.IsZero() })
	if m == nil {
		return false
	}
	w.tell("! pods on %s reach nothing any more", m.name)
	m.trial.cut = w.now
	return true
}

func cut(name string) func(*telling) {
	return func(t *telling) {
		t.tell("! pods on %s reach nothing any more", name)
		t.machine(name).trial.cut = t.now
	}
}

func connected(name string) func(*telling) {
	return func(t *telling) {
		t.tell("! pods on %s reach everything again", name)
		t.machine(name).trial.cut = time.Time{}
	}
}
