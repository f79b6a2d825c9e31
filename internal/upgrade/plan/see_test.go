package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// sighting is a Snapshot with the versions of the objects that it was made from, which every write must name.
type sighting struct {
	snapshot *cluster.Snapshot
	at       time.Time
	inputs   int
	meaning  int
	op       int64
	nodes    map[string]versions
}

type versions struct{ node, upgrade int64 }

// see looks at the world. What it shares with the world is never changed in place, only replaced.
func (w *world) see() *sighting {
	op := w.op.Operation
	s := &cluster.Snapshot{
		TakenAt: w.now, Operation: &op, Releases: w.releases, Installed: true,
		Kubeadm: kubeadmOf[w.external], Endpoint: cluster.Endpoint{Address: "10.0.0.100:6443", Holder: w.vip, Via: cluster.ViaInterface},
		Nodes: make([]cluster.Node, 0, len(w.machines)),
	}
	if w.older != "" {
		s.Others = []string{w.older}
	}
	out := &sighting{snapshot: s, at: w.now, inputs: w.inputs, meaning: w.meaning, op: w.op.version, nodes: make(map[string]versions, len(w.machines))}
	for _, m := range w.machines {
		s.Nodes = append(s.Nodes, cluster.Node{
			Name: m.name, UID: m.uid, ControlPlane: m.controlPlane, Zone: m.zone, Labels: m.labels, CreatedAt: m.created, Kubelet: m.seen,
			Ready: yesNo(m.ready), ReadySince: m.readySince, Unschedulable: m.cordoned, CordonedBy: m.cordonedBy, Static: m.static,
			Report: m.report, Asked: m.asked, Upgrade: m.upgrade,
		})
		if m.controlPlane {
			s.APIServers = append(s.APIServers, cluster.APIServer{Node: m.name, Version: m.apiServer.version, Ready: yesNo(m.up && m.apiServer.well())})
		}
		out.nodes[m.name] = versions{m.version, m.upgradeVersion}
	}
	w.seePods(s)
	return out
}

var kubeadmOf = map[bool]*cluster.Kubeadm{false: {}, true: {ExternalEtcd: true}}

func yesNo(yes bool) cluster.Answer {
	if yes {
		return cluster.Yes
	}
	return cluster.No
}

// remember keeps what was seen for deciders whose view lags behind.
func (w *world) remember(s *sighting) {
	const most = 16
	if len(w.past) == most {
		w.past = append(w.past[:0], w.past[1:]...)
	}
	w.past = append(w.past, s)
}

// ago is what was seen some sightings ago.
func (w *world) ago(sightings int) *sighting { return w.past[max(0, len(w.past)-1-sightings)] }

// tell is the agent writing its report: the facts of this moment.
func (m *machine) tell(w *world) {
	observed := metav1.NewTime(w.now)
	r := &refitv1alpha1.NodeReportStatus{
		Answered: m.asked, ObservedTime: &observed, NodeUID: types.UID(m.uid), MachineID: m.id, AcceptedSequence: m.agent.accepted,
	}
	if m.controlPlane {
		r.APIServer = &refitv1alpha1.APIServerFacts{Version: m.apiServer.version, Ready: m.apiServer.well()}
	}
	if m.etcd.version != "" {
		r.Etcd = &refitv1alpha1.EtcdFacts{
			Name: m.name, Version: m.etcd.version, Healthy: m.member() && w.quorum(), Leader: w.leader == m.name, Members: w.members,
		}
	}
	m.report = r
}

// notice is an agent that sees a discrete fact change and tells it unasked. An agent that is asleep answers only when it is asked.
func (m *machine) notice(w *world) {
	if !m.up || m.agent.absent || m.agent.asleep || m.etcd.version == "" || m.report == nil {
		return
	}
	told := m.report.Etcd
	if told == nil || told.Healthy != (m.member() && w.quorum()) || told.Leader != (w.leader == m.name) || len(told.Members) != len(w.members) {
		if m.agent.noticed.IsZero() {
			m.agent.noticed = w.now.Add(w.takes(1, 3))
		}
		if !w.now.Before(m.agent.noticed) {
			m.agent.noticed = time.Time{}
			m.tell(w)
		}
	}
}
