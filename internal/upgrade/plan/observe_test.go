package plan

import (
	"net/netip"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// observation is a Snapshot with the resourceVersions of its objects, which every write names.
type observation struct {
	snapshot *cluster.Snapshot
	at       time.Time
	inputs   int
	meaning  int
	op       int64
	nodes    map[string]versions
	backups  []*refitv1alpha1.EtcdBackup

	components map[string]int64  // the versions of their orders
	installed  map[string]string // the versions that Helm has recorded
}

type versions struct{ node, upgrade int64 }

// observe observes the world. What it shares with the world is never changed in place, only
// replaced.
func (w *world) observe() *observation {
	op := w.op.Operation
	s := &cluster.Snapshot{
		TakenAt: w.now, Operation: &op, Releases: w.releases, Installed: true,
		Kubeadm: kubeadmOf[w.external], Endpoint: cluster.Endpoint{Address: virtualIP + ":6443", IPs: []netip.Addr{netip.MustParseAddr(virtualIP)}},
		Nodes: make([]cluster.Node, 0, len(w.machines)),
	}
	if w.older != "" {
		s.Others = []string{w.older}
	}
	out := &observation{snapshot: s, at: w.now, inputs: w.inputs, meaning: w.meaning, op: w.op.version, nodes: make(map[string]versions, len(w.machines)), components: map[string]int64{}, installed: map[string]string{}}
	for _, m := range w.machines {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: m.name, UID: m.uid, ControlPlane: m.controlPlane, Zone: m.zone, Labels: m.labels, CreatedAt: m.created, Kubelet: m.nodeVersion,
			Ready: yesNo(m.ready), ReadySince: m.readySince, Unschedulable: m.cordoned, CordonedBy: m.cordonedBy, ProtectedBy: m.protectedBy, Static: m.static,
			Runtime: m.containerd,
			Report:  m.report, ReportRequest: m.reportRequest, Upgrade: m.upgrade,
		})
		if m.controlPlane {
			s.APIServers = append(s.APIServers, cluster.APIServer{Node: m.name, Version: m.apiServer.version, Ready: yesNo(m.up && m.apiServer.healthy())})
		}
		out.nodes[m.name] = versions{m.version, m.upgradeVersion}
	}
	s.Endpoint.Holder, s.Endpoint.Via = s.EndpointHolder()
	w.observeWindow(s)
	w.observePods(s)
	w.observeComponents(out)
	out.backups, s.Backups = slices.Clone(w.backups), observedBackups(w.backups)
	return out
}

const virtualIP = "10.0.0.100"

var keepalived = []refitv1alpha1.VirtualIPFacts{{Address: virtualIP, Software: refitv1alpha1.Keepalived, HealthCheck: new(true)}}

// addresses are the addresses on the machine's interfaces.
func (m *machine) addresses(w *world) []string {
	if w.holds(m) {
		return []string{virtualIP}
	}
	return nil
}

// reaches reports whether the API endpoint answers the machine.
func (m *machine) reaches(w *world) bool {
	return m.cutOffSince.IsZero() && (slices.ContainsFunc(w.machines, w.holds) || w.balanced && slices.ContainsFunc(w.machines, serves))
}

var kubeadmOf = map[bool]*cluster.Kubeadm{false: {}, true: {ExternalEtcd: true}}

func yesNo(yes bool) cluster.Answer {
	if yes {
		return cluster.Yes
	}
	return cluster.No
}

// record keeps an observation for controllers whose view lags.
func (w *world) record(s *observation) {
	const most = 16
	if len(w.past) == most {
		w.past = append(w.past[:0], w.past[1:]...)
	}
	w.past = append(w.past, s)
}

// ago is an earlier observation.
func (w *world) ago(sightings int) *observation { return w.past[max(0, len(w.past)-1-sightings)] }

// writeReport is the agent writing its report.
func (m *machine) writeReport(w *world) {
	observed, ahead := metav1.NewTime(m.clock(w)), m.skew.Milliseconds()
	r := &refitv1alpha1.NodeReportStatus{
		Answered: m.reportRequest, ObservedTime: &observed, NodeUID: types.UID(m.uid), MachineID: m.id, AcceptedSequence: m.agent.memory.Sequence, AcceptedEpoch: m.agent.memory.Epoch,
		ClockOffsetMilliseconds: &ahead, OrderFormat: refitv1alpha1.MaxOrderFormat, AgentVersion: m.agent.version,
	}
	if m.controlPlane {
		r.Addresses, r.EndpointReachable = m.addresses(w), new(m.reaches(w))
		if !w.balanced {
			r.VirtualIPs = keepalived
		}
		r.APIServer = &refitv1alpha1.APIServerFacts{Version: m.apiServer.version, Ready: m.apiServer.healthy()}
	}
	if m.controlPlane && w.external {
		r.ExternalEtcd = m.externalEtcd(w)
	}
	if m.etcd.version != "" {
		r.Etcd = &refitv1alpha1.EtcdFacts{
			Name: m.name, Version: m.etcd.version, Healthy: m.member() && w.quorum(), Leader: w.leader == m.name, Members: w.members,
		}
	}
	m.report = r
}

// externalEtcd is the external etcd as every control plane node reaches it, unless its agent is too
// old to report it.
func (m *machine) externalEtcd(w *world) *refitv1alpha1.ExternalEtcdFacts {
	if m.agent.version != "" {
		return nil
	}
	facts := &refitv1alpha1.ExternalEtcdFacts{ClusterID: "c1"}
	for _, name := range []string{"etcd-1", "etcd-2", "etcd-3"} {
		m := refitv1alpha1.ExternalEtcdMember{Name: name, Version: firstEtcd, Healthy: name != w.lost, Leader: name == "etcd-1"}
		if !m.Healthy {
			m.Version, m.Problem = "", "connection refused"
		}
		facts.Members = append(facts.Members, m)
	}
	return facts
}

// noticeChange is an agent that reports a changed fact without a request. A passive agent reports
// only on request.
func (m *machine) noticeChange(w *world) {
	if !m.up || m.agent.absent || m.agent.passive || !m.controlPlane || m.report == nil {
		return
	}
	if m.endpointChanged(w) || m.etcd.version != "" && m.memberChanged(w) ||
		w.external && !reflect.DeepEqual(m.report.ExternalEtcd, m.externalEtcd(w)) {
		if m.agent.noticesAt.IsZero() {
			m.agent.noticesAt = w.now.Add(w.duration(1, 3))
		}
		if !w.now.Before(m.agent.noticesAt) {
			m.agent.noticesAt = time.Time{}
			m.writeReport(w)
		}
	}
}

func (m *machine) endpointChanged(w *world) bool {
	reported := m.report
	return !slices.Equal(reported.Addresses, m.addresses(w)) || reported.EndpointReachable == nil || *reported.EndpointReachable != m.reaches(w)
}

func (m *machine) memberChanged(w *world) bool {
	reported := m.report.Etcd
	return reported == nil || reported.Healthy != (m.member() && w.quorum()) || reported.Leader != (w.leader == m.name) || len(reported.Members) != len(w.members)
}
