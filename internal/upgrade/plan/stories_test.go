package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// story is a whole upgrade: a cluster, a policy, what happens on the way, and what Refit did and why. Its golden file is meant for operators.
type story struct {
	name   string // of the golden file
	tells  string
	scene  scene
	before func(*world) // where the cluster differs before the operation begins
	script []turn
	ends   State // empty: it is still waiting when the story ends
	lasts  time.Duration
}

// turn is something that happens in a story, once, when its time has come.
type turn struct {
	when func(*telling) bool
	does func(*telling)
}

// telling is a story being told.
type telling struct {
	*world
	leader *decider
	old    *decider // one that was leader, with the view that it had
	last   Decision
}

// happen lets the story happen, with some guards taken out.
func (s *story) happen(without GateName) *telling {
	t := &telling{world: build(s.scene, nil)}
	if s.before != nil {
		s.before(t.world)
	}
	t.without, t.tale = without, newTale()
	t.leader = t.takeOver("Refit")
	waiting := slices.Clone(s.script)
	lasts := s.lasts
	if lasts == 0 {
		lasts = 6 * time.Hour
	}
	for t.now.Sub(dawn) < lasts {
		for i := range waiting {
			if waiting[i].when != nil && waiting[i].when(t) {
				waiting[i].when = nil
				waiting[i].does(t)
			}
		}
		t.live()
		if t.reachable() {
			t.remember(t.see())
			t.leader.view, t.leader.fresh = t.ago(0), true
			t.last = t.decide(t.leader)
		}
		if t.op.Ended && t.last.State.Ended() {
			break
		}
		t.now = t.now.Add(tick)
	}
	return t
}

// told is the golden text.
func (s *story) told(t *telling) string {
	return fmt.Sprintf("%s\n\n%s\n\n%s\n%s", s.tells, s.scene.describe(), t.tale, t.end())
}

func TestStories(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			told := s.happen("")
			for _, broken := range told.breaks {
				t.Error(broken)
			}
			if s.ends != told.op.end {
				t.Errorf("it ends %q, and should end %q: %s", told.op.end, s.ends, told.last.Message)
			}
			golden(t, filepath.Join("stories", s.name), s.told(told))
		})
	}
}

// describe says in words what the cluster and the policy are.
func (sc *scene) describe() string {
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
		out[0] += fmt.Sprintf(", %d zones in turn", sc.zones)
	}
	for _, l := range sc.loads {
		text := fmt.Sprintf("          %s/%s has %s", namespace, l.name, many(l.pods, "pod"))
		if l.most >= 0 {
			text += fmt.Sprintf("; its budget lets %d be away", l.most)
		}
		out = append(out, text)
	}
	spec := policy.Defaulted(sc.spec)
	add("Asked:    %s, scope %s, approval %s, rollback %s", spec.Target.Kubernetes, spec.Scope, spec.Approval, spec.Rollback)
	for i := range spec.Pools {
		p := &spec.Pools[i]
		text := fmt.Sprintf("          pool %s: maxUnavailable %s, drain %s within %s, else %s", p.Name, p.MaxUnavailable, p.Drain.When, duration(p.Drain.Timeout.Duration), p.Drain.OnBlocked)
		if p.Canary != nil {
			text += fmt.Sprintf(", canary of %d for %s", p.Canary.Nodes, duration(p.Canary.Soak.Duration))
		}
		out = append(out, text)
	}
	for _, waiver := range spec.Waivers {
		add("          waiver of %s: %s", waiver.Check, waiver.Reason)
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

// end says how the cluster is when the story ends.
func (t *telling) end() string {
	state := string(t.op.end)
	if state == "" {
		state = "not yet: " + string(t.last.State)
	}
	out := fmt.Sprintf("The end, after %s: %s.\n", clock(t.now), state)
	p := t.last.Progress
	out += fmt.Sprintf("Nodes: %d, done %d, failed %d, skipped %d.", p.Total, p.Done, p.Failed, p.Skipped)
	for _, m := range t.machines {
		out += fmt.Sprintf("\n  %-10s %s", m.name, m.seen)
		if m.cordoned {
			out += ", cordoned"
		}
		if !m.ready {
			out += ", not ready"
		}
	}
	return out + "\n"
}

// When things happen.

func at(minutes float64) func(*telling) bool {
	return func(t *telling) bool { return t.now.Sub(dawn) >= time.Duration(minutes*float64(time.Minute)) }
}

func claimed(name string) func(*telling) bool {
	return func(t *telling) bool { return slices.Contains(t.op.Active, name) }
}

func cordoned(name string) func(*telling) bool {
	return func(t *telling) bool { return t.machine(name).cordonedBy != "" }
}

func draining(name string) func(*telling) bool {
	return func(t *telling) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Drain != nil && u.Status.Drain.Sequence == u.Spec.Sequence
	}
}

func applying(name string) func(*telling) bool {
	return func(t *telling) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodeApplying
	}
}

func rollingBack(name string) func(*telling) bool {
	return func(t *telling) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodeRollingBack
	}
}

// kubeletSwapped is that the agent is replacing the kubelet.
func kubeletSwapped(name string) func(*telling) bool {
	return func(t *telling) bool { return applying(name)(t) && t.machine(name).kubelet.away }
}

func fetching(name string) func(*telling) bool {
	return func(t *telling) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodePrefetching
	}
}

// upgraded is that the agent has said so; the node may still be claimed.
func upgraded(name string) func(*telling) bool {
	return func(t *telling) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == refitv1alpha1.NodeSucceeded
	}
}

func is(state State) func(*telling) bool {
	return func(t *telling) bool { return t.last.State == state }
}

// later is some time after something else.
func later(minutes float64, when func(*telling) bool) func(*telling) bool {
	var since time.Time
	return func(t *telling) bool {
		if since.IsZero() && when(t) {
			since = t.now
		}
		return !since.IsZero() && t.now.Sub(since) >= time.Duration(minutes*float64(time.Minute))
	}
}

// What happens.

func fails(name string) func(*telling) {
	return func(t *telling) {
		t.tell("! %s goes down", name)
		t.setUp(t.machine(name), false)
	}
}

func returns(name string) func(*telling) {
	return func(t *telling) {
		t.tell("! %s is up again", name)
		t.setUp(t.machine(name), true)
	}
}

func dies(name string) func(*telling) {
	return func(t *telling) { t.agentRuns(t.machine(name), false) }
}

func startsAgain(name string) func(*telling) {
	return func(t *telling) { t.agentRuns(t.machine(name), true) }
}

func member(name string, well bool) func(*telling) {
	return func(t *telling) {
		t.tell("! the etcd member on %s %s", name, map[bool]string{true: "answers again", false: "does not answer any more"}[well])
		t.setMember(t.machine(name), well)
	}
}

func server(name string, well bool) func(*telling) {
	return func(t *telling) {
		t.tell("! the API server on %s is %s", name, map[bool]string{true: "ready again", false: "not ready"}[well])
		t.machine(name).apiServer.ill = !well
		t.machine(name).draw()
	}
}

// breaksDown lets the next step on a node fail, without a word before it does.
func breaksDown(name string) func(*telling) {
	return func(t *telling) { t.machine(name).agent.fails = true }
}

func asks(change func(*refitv1alpha1.ClusterUpgradeSpec), words string) func(*telling) {
	return func(t *telling) { t.edit(change, "%s", words) }
}

func pause(spec *refitv1alpha1.ClusterUpgradeSpec)  { spec.Paused = true }
func resume(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = false }
