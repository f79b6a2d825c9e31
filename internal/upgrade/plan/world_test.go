package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// world is a simulated cluster: what is true in it, which is not what anybody saw of it. Time passes in ticks. Nothing in it is changed but through
// its agents (agent_test.go), its pods (pods_test.go), trials (trial_test.go), what happens to it (events_test.go), a person (person_test.go) and the fences that stand
// between a decision and the cluster (fences_test.go).
type world struct {
	dice *rand.Rand // nil: everything takes its usual time, as in a story
	now  time.Time

	machines  []*machine
	workloads []*workload
	members   []string // of etcd, as etcd itself knows them
	leader    string   // of etcd
	vip       string   // the holder of the API endpoint's address
	external  bool     // etcd
	releases  []cluster.Release
	joined    int // machines that ever were, for their UIDs

	op     operation
	older  string // another operation that is unfinished
	inputs int    // raised with everything that Make reads but nodes' progress

	meaning int // raised with everything that a plan's hash stands for
	hashes  map[int]string

	past     []*sighting
	plans    map[int]*Plan
	versions map[string]skew.Version // that were parsed already
	without  GateName                // the gate that is taken out

	tale   *tale
	breaks []string // invariants that broke
	tally  tally
}

// tick is how often the world moves and a decider looks at it.
const tick = 10 * time.Second

// dawn is when every simulation begins.
var dawn = time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)

// operation is the ClusterUpgrade, with the version that a write must name.
type operation struct {
	cluster.Operation
	version int64
	end     State
}

// tally counts what a simulation did.
type tally struct{ decisions, effects, refused, events, changes int }

// machine is a node, its host and what is stored of it.
type machine struct {
	name, uid, id string
	controlPlane  bool
	zone          string
	labels        map[string]string
	created       time.Time

	up        bool // the host runs, and its agent
	reticent  bool // its kubelet is ready and does not report its version yet
	kubelet   part
	apiServer part
	etcd      part

	ready      bool // as the Node tells
	readySince time.Time
	seen       string // the kubelet's version as the Node tells it
	static     map[string]cluster.StaticPod

	cordoned   bool
	cordonedBy string
	byHand     bool      // it was a person who cordoned it
	handsOff   time.Time // when a person last lifted a cordon

	version        int64 // of the Node object
	upgrade        *cluster.Upgrade
	upgradeVersion int64
	report         *refitv1alpha1.NodeReportStatus
	asked          int64

	agent agent
	trial trial
	since changes
}

// part is a component on a host.
type part struct {
	version string
	away    bool // it is being swapped, or a failed swap left it down
	ill     bool // it does not answer, whatever the reason
	illAt   time.Time
}

func (p *part) well() bool { return !p.away && !p.ill }

// changes is when things became as they are, for invariants that allow facts to be a little old.
type changes struct {
	claimed, drained time.Time
}

func (w *world) parse(text string) skew.Version {
	v, known := w.versions[text]
	if !known {
		v, _ = skew.Parse(text)
		w.versions[text] = v
	}
	return v
}

func (w *world) machine(name string) *machine {
	for _, m := range w.machines {
		if m.name == name {
			return m
		}
	}
	return nil
}

// join adds a machine.
func (w *world) join(name string, controlPlane bool, version string, labels map[string]string) *machine {
	w.joined++
	m := &machine{
		name: name, uid: fmt.Sprintf("%s-uid-%d", name, w.joined), id: fmt.Sprintf("%032x", w.joined), controlPlane: controlPlane,
		zone: labels["zone"], labels: labels, created: w.now, up: true, kubelet: part{version: version}, seen: version,
		ready: true, readySince: w.now,
	}
	// No two objects ever have the same version, also when one follows another under its name.
	m.version, m.upgradeVersion = int64(w.joined)<<32, int64(w.joined)<<32
	if controlPlane {
		m.apiServer = part{version: version}
		if !w.external {
			m.etcd = part{version: firstEtcd}
			w.members = append(slices.Clone(w.members), name)
		}
	}
	w.otherNodes(controlPlane)
	m.draw()
	w.machines = append(w.machines, m)
	m.tell(w)
	return m
}

const firstEtcd = "3.6.6"

// leave takes a machine away. Its etcd member stays in the list until somebody removes it.
func (w *world) leave(m *machine) {
	w.machines = slices.DeleteFunc(slices.Clone(w.machines), func(other *machine) bool { return other == m })
	for _, load := range w.workloads {
		load.lose(m)
	}
	w.otherNodes(m.controlPlane)
	w.elect()
}

// otherNodes: which nodes the control plane has is a part of what gets approved. Workers are not, once the path is written down.
func (w *world) otherNodes(controlPlane bool) {
	if controlPlane || w.op.Plan == nil {
		w.inputs++
		w.meaning++
	}
}

// draw renews the static pods as their mirrors show them.
func (m *machine) draw() {
	if !m.controlPlane {
		return
	}
	m.static = map[string]cluster.StaticPod{"kube-apiserver": {Version: m.apiServer.version, Ready: m.apiServer.well()}}
	if m.etcd.version != "" {
		m.static["etcd"] = cluster.StaticPod{Version: m.etcd.version, Ready: m.etcd.well()}
	}
}

// live lets a tick of time take its effects.
func (w *world) live() {
	for _, m := range w.machines {
		m.work(w)
	}
	w.elect()
	for _, m := range w.machines {
		m.settleReadiness(w)
		m.notice(w)
		m.try(w)
	}
	w.runPods()
}

// settleReadiness is the node controller: a host that is down or a kubelet that is away is not ready, and a ready kubelet tells its version.
func (m *machine) settleReadiness(w *world) {
	ready := m.up && m.kubelet.well()
	if ready != m.ready {
		m.ready, m.readySince = ready, w.now
		m.version++
	}
	if ready && !m.reticent && m.seen != m.kubelet.version {
		m.seen = m.kubelet.version
		m.version++
	}
}

// member says whether the machine's etcd member is well, apart from whether there is a quorum.
func (m *machine) member() bool { return m.up && m.etcd.version != "" && m.etcd.well() }

// quorum says whether more than half of etcd's members are well.
func (w *world) quorum() bool {
	well := 0
	for _, m := range w.machines {
		if m.member() {
			well++
		}
	}
	return well > len(w.members)/2
}

// reachable says whether the API answers: with an API server that is well, and a quorum behind it.
func (w *world) reachable() bool {
	return (w.external || w.quorum()) && slices.ContainsFunc(w.machines, func(m *machine) bool { return m.controlPlane && m.up && m.apiServer.well() })
}

// elect gives etcd another leader if it has lost its own.
func (w *world) elect() {
	if w.external {
		return
	}
	if m := w.machine(w.leader); m != nil && m.member() {
		return
	}
	for _, m := range w.machines {
		if m.member() && w.quorum() {
			w.leader = m.name
			return
		}
	}
	w.leader = ""
}

// takes is how long something takes: in a story always the same.
func (w *world) takes(usual, longest int) time.Duration {
	if w.dice == nil {
		return time.Duration(usual) * tick
	}
	return time.Duration(1+w.dice.IntN(longest)) * tick
}

func (w *world) tell(format string, args ...any) {
	if w.tale != nil {
		w.tale.happens(w.now, fmt.Sprintf(format, args...))
	}
}
