package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// event is something that happens to a cluster while it is upgraded, at random. It says whether it could happen.
type event struct {
	name   string
	happen func(w *world) bool
}

var events = []event{
	{"a node fails", nodeFails},
	{"a node comes back", nodeComesBack},
	{"somebody cordons a node", handCordons},
	{"somebody uncordons a node", handUncordons},
	{"a node vanishes", nodeVanishes},
	{"a worker joins", workerJoins},
	{"a node is reinstalled", nodeReinstalled},
	{"a control plane node joins", controlPlaneJoins},
	{"a budget changes", budgetChanges},
	{"a workload is scaled", workloadScaled},
	{"an agent will fail", agentWillFail},
	{"an agent falls asleep", agentSleeps},
	{"an agent dies", agentDies},
	{"an agent is started again", agentLives},
	{"an etcd member is ill", memberIll},
	{"an API server is ill", serverIll},
	{"pods on a node reach nothing", podsCut},
	{"etcd's leadership moves", leadershipMoves},
	{"the endpoint's address moves", addressMoves},
	{"a person pauses", pauses},
	{"a person resumes", resumes},
	{"a person says retry", retries},
	{"a person aborts", aborts},
	{"a person changes a pool", changesPool},
	{"an older operation appears", olderAppears},
	{"the older operation ends", olderEnds},
	{"a person approves", approves},
	{"a person withdraws approval", withdraws},
	{"a ClusterRelease appears", releaseAppears},
}

// any picks a machine that fits.
func (w *world) any(fits func(*machine) bool) *machine {
	var all []*machine
	for _, m := range w.machines {
		if fits(m) {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[w.dice.IntN(len(all))]
}

func nodeFails(w *world) bool {
	m := w.any(func(m *machine) bool { return m.up })
	if m == nil {
		return false
	}
	w.tell("! %s fails", m.name)
	w.setUp(m, false)
	return true
}

func nodeComesBack(w *world) bool {
	m := w.any(func(m *machine) bool { return !m.up })
	if m == nil {
		return false
	}
	w.tell("! %s comes back", m.name)
	w.setUp(m, true)
	return true
}

func handCordons(w *world) bool {
	m := w.any(func(m *machine) bool { return !m.cordoned && m.cordonedBy == "" })
	if m == nil {
		return false
	}
	w.cordonByHand(m)
	return true
}

func handUncordons(w *world) bool {
	m := w.any(func(m *machine) bool { return m.cordoned })
	if m == nil {
		return false
	}
	w.uncordonByHand(m)
	return true
}

func nodeVanishes(w *world) bool {
	m := w.any(func(m *machine) bool { return !m.controlPlane || w.dice.IntN(4) == 0 })
	if m == nil || (m.controlPlane && w.servers() == 1) {
		return false
	}
	w.tell("! %s vanishes", m.name)
	w.leave(m)
	return true
}

func (w *world) servers() int {
	n := 0
	for _, m := range w.machines {
		if m.controlPlane {
			n++
		}
	}
	return n
}

// workerJoins lets a node join at a version that fits every API server, also those that are about to be.
func workerJoins(w *world) bool {
	if len(w.machines) >= 10 {
		return false
	}
	version := w.fitting()
	if version == "" {
		return false
	}
	name := fmt.Sprintf("worker-%d", w.joined+1)
	w.tell("! %s joins at %s", name, version)
	m := w.join(name, false, version, map[string]string{"zone": "a", "pool": []string{"batch", ""}[w.dice.IntN(2)]})
	if w.dice.IntN(4) == 0 {
		m.report, m.agent.absent = nil, true
	}
	return true
}

// fitting is a kubelet's version that may join now.
func (w *world) fitting() string {
	var oldest, newest skew.Version
	add := func(text string) {
		if v := w.parse(text); !v.IsZero() {
			newest = skew.Max(newest, v)
			if oldest.IsZero() || v.Before(oldest) {
				oldest = v
			}
		}
	}
	for _, m := range w.machines {
		add(m.apiServer.version)
		if m.controlPlane && m.upgrade != nil {
			add(w.payload(m.upgrade.Spec.Release.Name).Kubernetes)
		}
	}
	var fits []string
	for _, text := range []string{"v1.33.2", "v1.34.4", "v1.35.4", "v1.36.1", "v1.36.3", "v1.37.1"} {
		if v := w.parse(text); skew.KubeletFits(v, oldest) && skew.KubeletFits(v, newest) && !w.changingControlPlane() {
			fits = append(fits, text)
		}
	}
	if len(fits) == 0 {
		return ""
	}
	return fits[w.dice.IntN(len(fits))]
}

func (w *world) changingControlPlane() bool {
	return slices.ContainsFunc(w.machines, func(m *machine) bool { return m.controlPlane && m.agent.busy })
}

// nodeReinstalled is a node that vanishes and joins again under its name: another machine, and what was stored of it is not deleted yet.
func nodeReinstalled(w *world) bool {
	m := w.any(func(m *machine) bool { return !m.controlPlane && !m.agent.busy })
	version := w.fitting()
	if m == nil || version == "" {
		return false
	}
	w.tell("! %s is reinstalled at %s", m.name, version)
	w.leave(m)
	anew := w.join(m.name, false, version, m.labels)
	if w.dice.IntN(2) == 0 {
		anew.upgrade, anew.upgradeVersion = m.upgrade, m.upgradeVersion
	}
	if w.dice.IntN(4) == 0 {
		anew.report = m.report // of the machine that was
	}
	return true
}

// controlPlaneJoins at the version of the oldest API server that every kubelet accepts.
func controlPlaneJoins(w *world) bool {
	if w.servers() >= 5 || w.dice.IntN(3) > 0 {
		return false
	}
	var version skew.Version
	for _, m := range w.machines {
		if v := w.parse(m.apiServer.version); m.controlPlane && (version.IsZero() || v.Before(version)) {
			version = v
		}
	}
	for _, m := range w.machines {
		if v := w.parse(m.kubelet.version); !m.controlPlane && (!skew.KubeletFits(v, version) || m.agent.busy) {
			return false
		}
	}
	if !w.quorum() && !w.external {
		return false
	}
	name := fmt.Sprintf("cp-%d", w.joined+1)
	w.tell("! %s joins the control plane at %s", name, version)
	w.join(name, true, version.String(), map[string]string{})
	return true
}

func budgetChanges(w *world) bool {
	load := w.workloads[w.dice.IntN(len(w.workloads))]
	load.budget, load.most = true, int32(w.dice.IntN(3))
	w.tell("! the budget %s/%s lets %d pods be away", namespace, load.name, load.most)
	return true
}

func workloadScaled(w *world) bool {
	load := w.workloads[w.dice.IntN(len(w.workloads))]
	load.scale(1 + w.dice.IntN(5))
	w.tell("! %s/%s is scaled to %d", namespace, load.name, len(load.pods))
	return true
}

func agentWillFail(w *world) bool {
	m := w.any(func(m *machine) bool { return !m.agent.fails })
	if m == nil {
		return false
	}
	m.agent.fails = true
	return true
}

func agentSleeps(w *world) bool {
	m := w.any(func(m *machine) bool { return m.controlPlane && !m.agent.asleep })
	if m == nil {
		return false
	}
	m.agent.asleep = true
	return true
}

func agentDies(w *world) bool {
	m := w.any(func(m *machine) bool { return !m.agent.dead })
	if m == nil {
		return false
	}
	w.agentRuns(m, false)
	return true
}

func agentLives(w *world) bool {
	m := w.any(func(m *machine) bool { return m.agent.dead })
	if m == nil {
		return false
	}
	w.agentRuns(m, true)
	return true
}

func (w *world) agentRuns(m *machine, runs bool) {
	m.agent.dead = !runs
	if runs {
		w.tell("! the agent on %s is started again", m.name)
		return
	}
	w.tell("! the agent on %s dies", m.name)
}

func memberIll(w *world) bool {
	m := w.any(func(m *machine) bool { return m.etcd.version != "" && !m.etcd.ill })
	if m == nil {
		return false
	}
	w.tell("! the etcd member on %s does not answer", m.name)
	w.setMember(m, false)
	return true
}

func serverIll(w *world) bool {
	m := w.any(func(m *machine) bool { return m.controlPlane && !m.apiServer.ill })
	if m == nil {
		return false
	}
	w.tell("! the API server on %s is not ready", m.name)
	m.apiServer.ill = true
	m.draw()
	return true
}

func leadershipMoves(w *world) bool {
	m := w.any(func(m *machine) bool { return m.member() })
	if m == nil || w.external || m.name == w.leader {
		return false
	}
	w.tell("! %s leads etcd", m.name)
	w.leader = m.name
	return true
}

func addressMoves(w *world) bool {
	m := w.any(func(m *machine) bool { return m.controlPlane })
	w.tell("! the endpoint's address moves to %s", m.name)
	w.vip = m.name
	return true
}

func pauses(w *world) bool {
	if w.op.Spec.Paused {
		return false
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = true }, "a person pauses")
	return true
}

func resumes(w *world) bool {
	if !w.op.Spec.Paused {
		return false
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Paused = false }, "a person resumes")
	return true
}

func retries(w *world) bool {
	w.retry()
	return true
}

func aborts(w *world) bool {
	if w.op.Spec.Aborted || w.dice.IntN(3) > 0 {
		return false
	}
	w.abort()
	return true
}

// changesPool changes a policy, which is another plan.
func changesPool(w *world) bool {
	if w.dice.IntN(3) > 0 {
		return false
	}
	w.meaning++
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		pool := &spec.Pools[w.dice.IntN(len(spec.Pools))]
		drawn := randomPool(w.dice, pool.Name)
		drawn.NodeSelector = pool.NodeSelector
		*pool = drawn
	}, "a person changes a pool")
	return true
}

func olderAppears(w *world) bool {
	if w.older != "" {
		return false
	}
	w.tell("! an older operation turns up that has not ended")
	w.older = "older"
	return true
}

func olderEnds(w *world) bool {
	if w.older == "" {
		return false
	}
	w.tell("! the older operation ends")
	w.older = ""
	return true
}

func approves(w *world) bool {
	w.approve()
	return true
}

// withdraws takes an approval back, or leaves one behind that is of another plan.
func withdraws(w *world) bool {
	if w.op.Spec.ApprovedPlan == "" {
		return false
	}
	other := ""
	if w.dice.IntN(2) == 0 {
		other = fmt.Sprintf("sha256:%064x", w.dice.Uint64())
	}
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.ApprovedPlan = other }, "a person withdraws the approval")
	return true
}

func releaseAppears(w *world) bool {
	if len(w.see().plan(w).Hops) == 0 {
		return false
	}
	version := w.versionOf(nil)
	if version == "" {
		version = "v1.36.9" // newer than what the operation was planned with
	}
	if slices.ContainsFunc(w.releases, func(r cluster.Release) bool { return r.Payload.Kubernetes == version }) {
		return false
	}
	w.release(version)
	return true
}
