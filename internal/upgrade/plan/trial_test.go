package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// trial simulates trial Pods on a machine.
type trial struct {
	disconnectedSince time.Time // zero if its pods have a network
	hangs             bool      // trials do not finish
	ends              time.Time // of the current one
}

// startTrial writes status.trial.
func (w *world) startTrial(who *controller, m *machine, version int64) bool {
	if m.upgrade == nil || version != m.upgradeVersion {
		return false
	}
	started := refitv1alpha1.TrialStatus{Sequence: m.upgrade.Spec.Sequence, Phase: refitv1alpha1.TrialRunning, StartTime: stamp(who.clock(w))}
	m.writeUpgrade(func(u *cluster.Upgrade) { u.Status.Trial = &started })
	return true
}

// runTrial is the controller of trials: it repeats a failed one.
func (m *machine) runTrial(w *world) {
	if !m.trialPending() || m.trial.hangs || !m.ready || !w.reachable() {
		m.trial.ends = time.Time{}
		return
	}
	if m.trial.ends.IsZero() {
		m.trial.ends = w.now.Add(w.duration(1, 3))
	}
	if w.now.Before(m.trial.ends) {
		return
	}
	m.trial.ends = time.Time{}
	found := *m.upgrade.Status.Trial
	found.Phase, found.Message, found.CompletionTime = refitv1alpha1.TrialPassed, "", stamp(w.now)
	if !m.trial.disconnectedSince.IsZero() {
		found.Phase, found.Message = refitv1alpha1.TrialFailed, "lookup kubernetes.default.svc: i/o timeout"
	}
	if found.Phase != m.upgrade.Status.Trial.Phase {
		m.writeUpgrade(func(u *cluster.Upgrade) { u.Status.Trial = &found })
	}
}

func (m *machine) trialPending() bool {
	u := m.upgrade
	return u != nil && u.Status.Trial != nil && u.Status.Trial.Sequence == u.Spec.Sequence && u.Status.Trial.Phase != refitv1alpha1.TrialPassed
}

func podsDisconnected(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.controlPlane && m.trial.disconnectedSince.IsZero() })
	if m == nil {
		return false
	}
	w.note("! pods on %s lose their network", m.name)
	m.trial.disconnectedSince = w.now
	return true
}

func disconnected(name string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! pods on %s lose their network", name)
		t.machine(name).trial.disconnectedSince = t.now
	}
}

func connected(name string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! pods on %s have their network again", name)
		t.machine(name).trial.disconnectedSince = time.Time{}
	}
}
