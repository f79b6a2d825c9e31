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

// world is a simulated cluster: its true state, as opposed to what is observed of it. Time passes
// in ticks. It changes only through its agents (agent_test.go), pods (pods_test.go), trials
// (trial_test.go), events (events_test.go), the user (user_test.go), and the fences between a
// decision and the cluster (fences_test.go).
type world struct {
	dice *rand.Rand // nil in stories: everything takes its usual time
	now  time.Time

	machines  []*machine
	workloads []*workload
	longPods  bool     // the names of pods are as long as they may be
	members   []string // of etcd, as etcd lists them
	leader    string   // of etcd
	vip       string   // the node that holds the API endpoint's address while its API server is healthy
	vipAlso   string   // another node that holds it, too
	vipLost   bool     // no node holds it
	balanced  bool     // a load balancer outside the cluster holds it
	external  bool     // etcd
	lost      string   // the member of an external etcd that is down
	releases  []cluster.Release
	payloads  map[string]refitv1alpha1.ReleasePayload // of every ClusterRelease that was ever ordered
	joined    int                                     // machines that ever joined, for their UIDs

	op          operation
	deniedSince time.Time // since when a webhook denies changes of Nodes

	backups      []*refitv1alpha1.EtcdBackup // of the operation; replaced, never changed
	backupsStall bool                        // the controller of EtcdBackups does nothing
	storeFails   bool                        // the BackupStore refuses every object
	findings     []refitv1alpha1.RehearsalFinding
	provenSince  map[string]time.Time // when a ClusterRelease was last rehearsed, or a backup restored

	addOns         []addOn
	components     []*simulatedComponent
	componentAgent componentAgent

	ordersDeniedSince time.Time // since when a webhook denies orders
	claimsRefused     bool      // admission refuses claims

	window       *refitv1alpha1.MaintenanceWindowSpec // nil: it does not exist
	windowEdited time.Time                            // or openUntil

	older    string    // another operation that has not ended
	blocking *Blocking // a preflight finding that blocks the start
	restored bool      // etcd was restored from a backup
	inputs   int       // raised with every input of Make except progress

	meaning int // raised with everything that a plan's hash covers
	hashes  map[int]string

	past     []*observation
	plans    map[int]*Plan
	versions map[string]skew.Version // parsed already
	without  GateName                // a gate that is removed
	skewed   bool                    // clocks are wrong
	leading  *controller

	narrative  *narrative
	violations []string // violated invariants
	tally      tally
}

// tick is how often the world changes and the controller decides.
const tick = 10 * time.Second

// simulationStart is when every simulation starts.
var simulationStart = time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)

// operation is the ClusterUpgrade with its resourceVersion.
type operation struct {
	cluster.Operation
	version int64
	end     State
}

// tally has the counters of a simulation.
type tally struct{ decisions, effects, refused, events, changes, components int }

// machine is a node, its host and its objects.
type machine struct {
	name, uid, id string
	controlPlane  bool
	zone          string
	labels        map[string]string
	created       time.Time

	skew         time.Duration // how far its clock is ahead
	up           bool          // the host runs
	cutOffSince  time.Time     // since when it cannot reach the API endpoint, zero if it can
	hidesVersion bool          // its kubelet is ready and does not report its version yet
	kubelet      part
	apiServer    part
	etcd         part
	containerd   string // empty in stories, where it stays

	ready       bool // as in the Node's status
	readySince  time.Time
	nodeVersion string // the kubelet's version in the Node's status
	static      map[string]cluster.StaticPod

	cordoned       bool
	cordonedBy     string
	cordonedByUser bool      // the user cordoned it
	uncordonedAt   time.Time // when the user last uncordoned it
	protectedBy    string    // the operation that keeps autoscalers from removing it

	version        int64 // resourceVersion of the Node
	upgrade        *cluster.Upgrade
	upgradeVersion int64
	report         *refitv1alpha1.NodeReportStatus
	reportRequest  int64

	agent agent
	trial trial
	since changes
}

// part is a component on a host.
type part struct {
	version        string
	down           bool // it is being replaced, or a failed step left it down
	unhealthy      bool // it does not respond, whatever the cause
	unhealthySince time.Time
}

func (p *part) healthy() bool { return !p.down && !p.unhealthy }

// changes are times, for invariants that tolerate slightly old reports.
type changes struct {
	claimed, drained, completed time.Time
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
		zone: labels["zone"], labels: labels, created: w.now, up: true, kubelet: part{version: version}, nodeVersion: version,
		ready: true, readySince: w.now,
	}
	// No two objects ever share a resourceVersion, not even under the same name.
	m.version, m.upgradeVersion = int64(w.joined)<<32, int64(w.joined)<<32
	if controlPlane {
		m.apiServer = part{version: version}
		if !w.external {
			m.etcd = part{version: firstEtcd}
			w.members = append(slices.Clone(w.members), name)
		}
	}
	w.otherNodes(controlPlane)
	m.updateStaticPods()
	w.machines = append(w.machines, m)
	m.writeReport(w)
	return m
}

const firstEtcd = "3.6.6"

// leave removes a machine. Its etcd member stays in the list until the user removes it.
func (w *world) leave(m *machine) {
	w.machines = slices.DeleteFunc(slices.Clone(w.machines), func(other *machine) bool { return other == m })
	for _, load := range w.workloads {
		load.lose(m)
	}
	w.otherNodes(m.controlPlane)
	w.elect()
}

// otherNodes updates the inputs of plans: the approved plan covers the control plane nodes; workers
// only matter until the path is recorded.
func (w *world) otherNodes(controlPlane bool) {
	if controlPlane || w.op.Plan == nil {
		w.inputs++
		w.meaning++
	}
}

// updateStaticPods updates the mirror pods.
func (m *machine) updateStaticPods() {
	if !m.controlPlane {
		return
	}
	m.static = map[string]cluster.StaticPod{"kube-apiserver": {Version: m.apiServer.version, Ready: m.apiServer.healthy()}}
	if m.etcd.version != "" {
		m.static["etcd"] = cluster.StaticPod{Version: m.etcd.version, Ready: m.etcd.healthy()}
	}
}

// tickAll advances every part of the cluster by a tick.
func (w *world) tickAll() {
	for _, m := range w.machines {
		m.runAgent(w)
	}
	w.elect()
	for _, m := range w.machines {
		m.settleReadiness(w)
		m.noticeChange(w)
		m.runTrial(w)
	}
	w.runPods()
	w.runBackups()
	w.runComponents()
}

// settleReadiness is the node controller: a node is ready if its host and its kubelet run, and
// reports its version then.
func (m *machine) settleReadiness(w *world) {
	ready := m.up && m.kubelet.healthy()
	if ready != m.ready {
		m.ready, m.readySince = ready, w.now // the node controller finds a node that is lost
		if ready {
			m.readySince = m.clock(w) // the kubelet reports it
		}
		m.version++
	}
	if ready && !m.hidesVersion && m.nodeVersion != m.kubelet.version {
		m.nodeVersion = m.kubelet.version
		m.version++
	}
}

// member reports whether the machine's etcd member is healthy, regardless of the quorum.
func (m *machine) member() bool { return m.up && m.etcd.version != "" && m.etcd.healthy() }

// quorum reports whether more than half of the etcd members are healthy.
func (w *world) quorum() bool {
	healthy := 0
	for _, m := range w.machines {
		if m.member() {
			healthy++
		}
	}
	return healthy > len(w.members)/2
}

// reachable reports whether the API is available: an API server is healthy, and etcd has a quorum.
func (w *world) reachable() bool {
	return (w.external || w.quorum()) && slices.ContainsFunc(w.machines, serves)
}

// serves reports whether the API server of a machine is healthy.
func serves(m *machine) bool { return m != nil && m.controlPlane && m.up && m.apiServer.healthy() }

// holds reports whether a machine holds the API endpoint's address: software with a health check
// moves it off a node whose API server is unhealthy.
func (w *world) holds(m *machine) bool {
	switch {
	case w.balanced || w.vipLost || !serves(m):
		return false
	case m.name == w.vip || m.name == w.vipAlso:
		return true
	case serves(w.machine(w.vip)):
		return false
	}
	return w.machines[slices.IndexFunc(w.machines, serves)] == m
}

// elect elects another etcd leader if the current one has failed.
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

// duration is how long something takes: in a story always the same.
func (w *world) duration(usual, longest int) time.Duration {
	if w.dice == nil {
		return time.Duration(usual) * tick
	}
	return time.Duration(1+w.dice.IntN(longest)) * tick
}

func (w *world) note(format string, args ...any) {
	if w.narrative != nil {
		w.narrative.event(w.now, fmt.Sprintf(format, args...))
	}
}
