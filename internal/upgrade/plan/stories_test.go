package plan

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// story is a whole upgrade: a cluster, a policy, what happens during it, and what Refit does and
// why. Its golden file is for operators.
type story struct {
	name     string // of the golden file
	summary  string
	scenario scenario
	before   func(*world) // how the cluster differs before the operation starts
	script   []scriptEvent
	ends     State // empty if the operation still waits at the end
	duration time.Duration
}

// scriptEvent is something that happens once in a story.
type scriptEvent struct {
	when func(*storyRun) bool
	then func(*storyRun)
}

// storyRun is a story while it runs.
type storyRun struct {
	*world
	leader *controller
	old    *controller // a deposed leader with its old view
	last   Decision

	progress refitv1alpha1.NodeCounts // as the operation's status has it
}

// run runs the story, without a gate if one is given.
func (s *story) run(without GateName) *storyRun {
	t := &storyRun{world: build(s.scenario, nil)}
	if s.before != nil {
		s.before(t.world)
	}
	t.without, t.narrative = without, newNarrative()
	t.leader = t.takeOver("Refit")
	waiting := slices.Clone(s.script)
	lasts := s.duration
	if lasts == 0 {
		lasts = 6 * time.Hour
	}
	for t.now.Sub(simulationStart) < lasts {
		for i := range waiting {
			if waiting[i].when != nil && waiting[i].when(t) {
				waiting[i].when = nil
				waiting[i].then(t)
			}
		}
		t.tickAll()
		if t.reachable() {
			t.raiseEpoch(t.leader)
			t.record(t.observe())
			t.leader.view, t.leader.fresh = t.ago(0), true
			t.last = t.decide(t.leader)
			if !t.last.State.Ended() {
				t.progress = t.last.Progress
			}
		}
		if t.op.Ended && t.last.State.Ended() {
			break
		}
		t.now = t.now.Add(tick)
	}
	return t
}

// text is the golden file.
func (s *story) text(t *storyRun) string {
	return fmt.Sprintf("%s\n\n%s\n\n%s\n%s", s.summary, s.scenario.describe(), t.narrative, t.end())
}

func TestStories(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			done := s.run("")
			for _, broken := range done.violations {
				t.Error(broken)
			}
			if s.ends != done.op.end {
				t.Errorf("ended as %q, want %q: %s", done.op.end, s.ends, done.last.Message)
			}
			golden(t, filepath.Join("stories", s.name), s.text(done))
		})
	}
}

// describe describes the cluster and the policy.
func (sc *scenario) describe() string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	workersAt := sc.workersAt
	if workersAt == "" {
		workersAt = sc.version
	}
	add("Cluster:  %s at %s", many(sc.controlPlanes, "control plane node"), sc.version)
	if sc.workers > 0 {
		out[0] += fmt.Sprintf(", %s at %s", many(sc.workers, "worker"), workersAt)
	}
	if sc.external {
		out[0] += ", external etcd"
	}
	if sc.zones > 1 {
		out[0] += fmt.Sprintf(", %d zones", sc.zones)
	}
	for _, l := range sc.loads {
		text := fmt.Sprintf("          %s/%s has %s", namespace, l.name, many(l.pods, "pod"))
		if l.maxUnavailable >= 0 {
			text += fmt.Sprintf("; its budget allows %d unavailable", l.maxUnavailable)
		}
		out = append(out, text)
	}
	for _, a := range sc.addOns {
		add("          component %s %s", a.name, a.installed)
	}
	spec := policy.Defaulted(sc.spec)
	add("Request:  %s, scope %s, approval %s, rollback %s", cmp.Or(spec.Target.Kubernetes, spec.Target.Release), spec.Scope, spec.Approval, spec.Rollback)
	if b := spec.Backup; b != nil {
		add("          backup to %s, drill %s, maxAge %s", b.Store, b.Drill, duration(b.MaxAge.Duration))
	}
	if sc.window != nil {
		for _, o := range sc.window.Open {
			add("          window %s: daily from %s %s for %s, control plane %s, prefetch %s", spec.Window, o.Start, sc.window.TimeZone, duration(o.Duration.Duration), sc.window.ControlPlane, sc.window.Prefetch)
		}
	}
	for i := range spec.Pools {
		p := &spec.Pools[i]
		text := fmt.Sprintf("          pool %s: maxUnavailable %s, drain %s, timeout %s, onBlocked %s", p.Name, p.MaxUnavailable, p.Drain.When, duration(p.Drain.Timeout.Duration), p.Drain.OnBlocked)
		if p.Canary != nil {
			text += fmt.Sprintf(", canary %d for %s", p.Canary.Nodes, duration(p.Canary.Soak.Duration))
		}
		out = append(out, text)
	}
	for _, waiver := range spec.Waivers {
		add("          waived %s: %s", waiver.Check, waiver.Reason)
	}
	add("ClusterReleases: %s", strings.Join(sc.releases, ", "))
	return strings.Join(out, "\n")
}

func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// end describes the cluster at the end of the story.
func (t *storyRun) end() string {
	state := string(t.op.end)
	if state == "" {
		state = "still " + string(t.last.State)
	}
	out := fmt.Sprintf("%s: %s.\n", clock(t.now), state)
	p := t.progress
	out += fmt.Sprintf("Nodes: %d, done %d, failed %d, skipped %d.", p.Total, p.Done, p.Failed, p.Skipped)
	for _, m := range t.machines {
		out += fmt.Sprintf("\n  %-10s %s", m.name, m.nodeVersion)
		if m.cordoned {
			out += ", cordoned"
		}
		if !m.ready {
			out += ", not ready"
		}
	}
	for _, c := range t.components {
		out += fmt.Sprintf("\n  %-10s %s", c.name, cmp.Or(c.installed, "is not installed"))
	}
	return out + "\n"
}

// When events happen.

func at(minutes float64) func(*storyRun) bool {
	return func(t *storyRun) bool {
		return t.now.Sub(simulationStart) >= time.Duration(minutes*float64(time.Minute))
	}
}

func claimed(name string) func(*storyRun) bool {
	return func(t *storyRun) bool { return slices.Contains(t.op.Active, name) }
}

func cordoned(name string) func(*storyRun) bool {
	return func(t *storyRun) bool { return t.machine(name).cordonedBy != "" }
}

func draining(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Drain != nil && u.Status.Drain.Sequence == u.Spec.Sequence
	}
}

func applying(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodeApplying
	}
}

// ordered is a node whose agent may change its host, and has not accepted that yet.
func ordered(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Spec.Permit == refitv1alpha1.PermitApply && u.Status.Phase == refitv1alpha1.NodePrefetched
	}
}

func rollingBack(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodeRollingBack
	}
}

// kubeletSwapped is when the agent replaces the kubelet.
func kubeletSwapped(name string) func(*storyRun) bool {
	return func(t *storyRun) bool { return applying(name)(t) && t.machine(name).kubelet.down }
}

func fetching(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodePrefetching
	}
}

// upgraded is when the agent has reported success; the node may still be claimed.
func upgraded(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodeSucceeded
	}
}

func is(state State) func(*storyRun) bool {
	return func(t *storyRun) bool { return t.last.State == state }
}

// later is a time after another event.
func later(minutes float64, when func(*storyRun) bool) func(*storyRun) bool {
	var since time.Time
	return func(t *storyRun) bool {
		if since.IsZero() && when(t) {
			since = t.now
		}
		return !since.IsZero() && t.now.Sub(since) >= time.Duration(minutes*float64(time.Minute))
	}
}

// The events.

func goesDown(name string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! %s goes down", name)
		t.setUp(t.machine(name), false)
	}
}

func comesUp(name string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! %s is up", name)
		t.setUp(t.machine(name), true)
	}
}

func agentStops(name string) func(*storyRun) {
	return func(t *storyRun) { t.setAgent(t.machine(name), false) }
}

func agentStarts(name string) func(*storyRun) {
	return func(t *storyRun) { t.setAgent(t.machine(name), true) }
}

func member(name string, healthy bool) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! the etcd member on %s %s", name, map[bool]string{true: "is healthy", false: "is unhealthy"}[healthy])
		t.setMember(t.machine(name), healthy)
	}
}

// thirdServer changes the API server on the third control plane node.
func thirdServer(healthy bool) func(*storyRun) {
	const name = "cp-3"
	return func(t *storyRun) {
		t.note("! the API server on %s is %s", name, map[bool]string{true: "ready", false: "not ready"}[healthy])
		t.machine(name).apiServer.unhealthy = !healthy
		t.machine(name).updateStaticPods()
	}
}

// failsNextStep lets the current step on a node fail.
func failsNextStep(name string) func(*storyRun) {
	return func(t *storyRun) { t.machine(name).agent.fails = true }
}

func edits(change func(*refitv1alpha1.ClusterUpgradeSpec), words string) func(*storyRun) {
	return func(t *storyRun) { t.edit(change, "%s", words) }
}

func pause(spec *refitv1alpha1.ClusterUpgradeSpec)  { spec.Paused = true }
func resume(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = false }
