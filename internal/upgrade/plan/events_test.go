package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// event is a random event during an upgrade. It reports whether it could happen.
type event struct {
	name   string
	happen func(w *world) bool
}

var events = []event{
	{"a node goes down", nodeFails},
	{"a node recovers", nodeRecovers},
	{"an abandoned host comes back", abandonedComesBack},
	{"the user cordons a node", userCordons},
	{"the user uncordons a node", userUncordons},
	{"a node is removed", nodeLeaves},
	{"the window changes", windowChanges},
	{"the user opens the window", opensUntil},
	{"a worker joins", workerJoins},
	{"the network of a worker that joined starts", networkStarts},
	{"a node is reinstalled", nodeReinstalled},
	{"a control plane node joins", controlPlaneJoins},
	{"a budget changes", budgetChanges},
	{"a workload is scaled", workloadScaled},
	{"a finalizer keeps pods", podsStuck},
	{"pods with an emptyDir appear", dataAppears},
	{"a webhook denies changes of Nodes", nodesDenied},
	{"a webhook denies orders", ordersDenied},
	{"admission refuses claims", claimsRefused},
	{"an order is deleted", orderDeleted},
	{"a report is deleted", reportDeleted},
	{"an agent will fail", agentWillFail},
	{"another package manager runs on a host", packagesLocked},
	{"an agent reports only on request", agentPassive},
	{"an agent stops", agentCrashes},
	{"an agent starts", agentRestarts},
	{"etcd is backed up", etcdBackedUp},
	{"the BackupStore fails", storeFails},
	{"a rehearsal will have findings", rehearsalWillFail},
	{"an EtcdBackup is deleted", backupDeleted},
	{"someone creates an EtcdBackup in the name of the operation", backupForged},
	{"the controller of EtcdBackups stalls", backupsStall},
	{"refit-components is killed, or starts", componentsStop},
	{"the change of a component will fail", componentWillFail},
	{"a component has a problem", componentProblemAppears},
	{"the user changes the values of a component", valuesChange},
	{"a ComponentUpgrade is deleted", componentOrderDeleted},
	{"an etcd member is unhealthy", memberUnhealthy},
	{"an API server is not ready", serverUnhealthy},
	{"pods on a node lose their network", podsDisconnected},
	{"etcd's leadership moves", leadershipMoves},
	{"the endpoint's address moves", addressMoves},
	{"a node cannot reach the endpoint", endpointUnreachable},
	{"two nodes hold the endpoint's address", addressHeldTwice},
	{"the user pauses", pauses},
	{"the user resumes", resumes},
	{"the user retries", retries},
	{"the user aborts", aborts},
	{"the user changes a pool", changesPool},
	{"an older operation appears", olderAppears},
	{"the older operation ends", olderEnds},
	{"the user approves", approves},
	{"the user withdraws the approval", withdraws},
	{"a ClusterRelease appears", releaseAppears},
	{"the target's ClusterRelease is deleted", releaseDeleted},
}

// pick picks a random machine that fits.
func (w *world) pick(fits func(*machine) bool) *machine {
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
	m := w.pick(func(m *machine) bool { return m.up })
	if m == nil {
		return false
	}
	w.note("! %s goes down", m.name)
	w.setUp(m, false)
	return true
}

func nodeRecovers(w *world) bool {
	m := w.pick(func(m *machine) bool { return !m.up })
	if m == nil {
		return false
	}
	w.note("! %s is up", m.name)
	w.setUp(m, true)
	return true
}

func abandonedComesBack(w *world) bool {
	m := w.pick(func(m *machine) bool { return w.abandoned(m) && (!m.up || m.agent.stopped) })
	if m == nil {
		return false
	}
	w.note("! the abandoned host of %s comes back", m.name)
	w.setUp(m, true)
	m.agent.stopped = false
	return true
}

func userCordons(w *world) bool {
	m := w.pick(func(m *machine) bool { return !m.cordoned && m.cordonedBy == "" })
	if m == nil {
		return false
	}
	w.cordonByHand(m)
	return true
}

func userUncordons(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.cordoned })
	if m == nil {
		return false
	}
	w.uncordonByHand(m)
	return true
}

func nodeLeaves(w *world) bool {
	m := w.pick(func(m *machine) bool { return !m.controlPlane || w.dice.IntN(4) == 0 })
	if m == nil || (m.controlPlane && w.servers() == 1) {
		return false
	}
	w.note("! %s is removed", m.name)
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

// workerJoins lets a node join at a version that fits every API server, and those of the current
// hop.
func workerJoins(w *world) bool {
	if len(w.machines) >= 10 {
		return false
	}
	version := w.fitting()
	if version == "" {
		return false
	}
	name := fmt.Sprintf("worker-%d", w.joined+1)
	w.note("! %s joins at %s", name, version)
	m := w.join(name, false, version, map[string]string{"zone": "a", "pool": []string{"batch", ""}[w.dice.IntN(2)]})
	switch w.dice.IntN(4) {
	case 0:
		m.report, m.agent.absent = nil, true
	case 1:
		w.note("! %s is not ready", name)
		m.ready, m.kubelet.unhealthy = false, true
	}
	return true
}

// networkStarts makes a worker ready that joined not ready.
func networkStarts(w *world) bool {
	m := w.pick(func(m *machine) bool {
		return !m.controlPlane && m.kubelet.unhealthy && m.created.After(simulationStart)
	})
	if m == nil {
		return false
	}
	w.note("! the network of %s starts", m.name)
	m.kubelet.unhealthy = false
	return true
}

// fitting is a kubelet version that may join now.
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

// nodeReinstalled removes a node that joins again under its name: another machine, while the
// objects of the old one may still exist.
func nodeReinstalled(w *world) bool {
	m := w.pick(func(m *machine) bool { return !m.controlPlane && !m.agent.busy })
	version := w.fitting()
	if m == nil || version == "" {
		return false
	}
	w.note("! %s is reinstalled at %s", m.name, version)
	w.leave(m)
	reinstalled := w.join(m.name, false, version, m.labels)
	if w.dice.IntN(2) == 0 {
		reinstalled.upgrade, reinstalled.upgradeVersion = m.upgrade, m.upgradeVersion
	}
	if w.dice.IntN(4) == 0 {
		reinstalled.report = m.report // of the old machine
	}
	return true
}

// controlPlaneJoins lets a node join at the version of the oldest API server, if every kubelet
// accepts it.
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
	w.note("! %s joins the control plane at %s", name, version)
	w.join(name, true, version.String(), map[string]string{})
	return true
}

func budgetChanges(w *world) bool {
	load := w.workloads[w.dice.IntN(len(w.workloads))]
	load.budget, load.maxUnavailable = true, int32(w.dice.IntN(3))
	w.note("! the budget %s/%s allows %d disruptions", namespace, load.name, load.maxUnavailable)
	return true
}

func workloadScaled(w *world) bool {
	load := w.workloads[w.dice.IntN(len(w.workloads))]
	load.scale(1 + w.dice.IntN(5))
	w.note("! %s/%s is scaled to %d", namespace, load.name, len(load.pods))
	return true
}

func podsStuck(w *world) bool {
	load := w.workloads[w.dice.IntN(len(w.workloads))]
	if load.stuck || w.dice.IntN(2) == 0 {
		return false
	}
	load.stuck = true
	w.note("! a finalizer keeps the pods of %s/%s", namespace, load.name)
	return true
}

// dataAppears replaces a Deployment by a StatefulSet that no preflight check has seen.
func dataAppears(w *world) bool {
	load := w.workloads[w.dice.IntN(len(w.workloads))]
	if load.keepsData || w.dice.IntN(2) == 0 {
		return false
	}
	load.keepsData = true
	w.note("! %s/%s becomes a StatefulSet with an emptyDir", namespace, load.name)
	return true
}

func nodesDenied(w *world) bool {
	if !w.deniedSince.IsZero() || w.dice.IntN(3) > 0 {
		return false
	}
	w.note("! a webhook denies changes of Nodes")
	w.deniedSince = w.now
	return true
}

func agentWillFail(w *world) bool {
	m := w.pick(func(m *machine) bool { return !m.agent.fails })
	if m == nil {
		return false
	}
	m.agent.fails = true
	return true
}

// packagesLocked lets an agent wait for longer than any step may take.
func packagesLocked(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.up && !w.now.Before(m.agent.lockedUntil) })
	if m == nil {
		return false
	}
	m.agent.lockedUntil = w.now.Add(w.duration(1, int(20*time.Minute/tick)))
	w.note("! another package manager runs on %s until %s", m.name, m.agent.lockedUntil.Format("15:04:05"))
	return true
}

func agentPassive(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.controlPlane && !m.agent.passive })
	if m == nil {
		return false
	}
	m.agent.passive = true
	return true
}

func agentCrashes(w *world) bool {
	m := w.pick(func(m *machine) bool { return !m.agent.stopped })
	if m == nil {
		return false
	}
	w.setAgent(m, false)
	return true
}

func agentRestarts(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.agent.stopped })
	if m == nil {
		return false
	}
	w.setAgent(m, true)
	return true
}

func (w *world) setAgent(m *machine, runs bool) {
	m.agent.stopped = !runs
	if runs {
		w.note("! the agent on %s starts", m.name)
		return
	}
	w.note("! the agent on %s stops", m.name)
}

func memberUnhealthy(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.etcd.version != "" && !m.etcd.unhealthy })
	if m == nil {
		return false
	}
	w.note("! the etcd member on %s is unhealthy", m.name)
	w.setMember(m, false)
	return true
}

func serverUnhealthy(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.controlPlane && !m.apiServer.unhealthy })
	if m == nil {
		return false
	}
	w.note("! the API server on %s is not ready", m.name)
	m.apiServer.unhealthy = true
	m.updateStaticPods()
	return true
}

func leadershipMoves(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.member() })
	if m == nil || w.external || m.name == w.leader {
		return false
	}
	w.note("! %s becomes etcd's leader", m.name)
	w.leader = m.name
	return true
}

func addressMoves(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.controlPlane })
	w.note("! the endpoint's address moves to %s", m.name)
	w.vip = m.name
	return true
}

func endpointUnreachable(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.controlPlane && m.cutOffSince.IsZero() })
	if m == nil {
		return false
	}
	w.note("! %s cannot reach the endpoint", m.name)
	m.cutOffSince = w.now
	return true
}

func addressHeldTwice(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.controlPlane && m.name != w.vip })
	if m == nil || w.vipAlso != "" {
		return false
	}
	w.note("! %s holds the endpoint's address, too", m.name)
	w.vipAlso = m.name
	return true
}
