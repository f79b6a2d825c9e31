package agents

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const labelControlPlane = "node-role.kubernetes.io/control-plane"

// host is one simulated machine with its kubelet and its agent.
type host struct {
	agents       *Agents
	name         string
	controlPlane bool
	server       *server // nil on a worker

	status, facts, kubelet newest // the latest state to write

	mu        sync.Mutex
	uid       types.UID
	seen      *corev1.Node // as it was when it joined
	versions  map[string]string
	memory    node.HostState
	journal   []node.Record
	order     *refitv1alpha1.NodeUpgrade      // the newest observed
	refusal   *node.Refusal                   // of that order
	refused   int64                           // its generation
	backup    *refitv1alpha1.NodeBackupStatus // the last one
	working   bool
	writtenAt time.Time // time of the last status write
	request   int64     // the newest report request
}

// handleNode handles a change of a Node. A Node that is new or has rejoined gets a host.
func (a *Agents) handleNode(object any, gone bool) {
	n, is := object.(*corev1.Node)
	if !is || gone {
		return
	}
	a.mu.Lock()
	h := a.hosts[n.Name]
	if h == nil {
		_, controlPlane := n.Labels[labelControlPlane]
		h = &host{agents: a, name: n.Name, controlPlane: controlPlane}
		h.memory.MachineID = clustertest.MachineID(n.Name)
		a.hosts[n.Name] = h
		a.names = append(a.names, n.Name)
	}
	a.mu.Unlock()
	h.mu.Lock()
	joined := h.uid != n.UID
	if joined {
		h.join(n)
	}
	h.mu.Unlock()
	if joined {
		a.begin(h.start)
	}
}

// join resets the host for a new Node.
func (h *host) join(n *corev1.Node) {
	h.uid, h.seen = n.UID, n
	version := n.Status.NodeInfo.KubeletVersion
	h.versions = map[string]string{node.StepKubelet: version, node.StepAPIServer: version, node.StepControllers: version, node.StepEtcd: etcdVersion}
	h.journal, h.order, h.refusal, h.refused, h.backup = nil, nil, nil, 0, nil
}

// start starts the host's components, and reports.
func (h *host) start(ctx context.Context) {
	if h.controlPlane && h.server == nil {
		listening, err := h.agents.authority.listen(h.version(node.StepAPIServer))
		if err != nil {
			panic(err) // no loopback address is left
		}
		h.mu.Lock()
		h.server = listening
		h.mu.Unlock()
	}
	if h.controlPlane {
		h.mirror(ctx)
	}
	h.report()
}

func (h *host) version(of string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.versions[of]
}

// host returns the host with this name, nil if there is none yet.
func (a *Agents) host(name string) *host {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hosts[name]
}

// members returns the names of the hosts that have an etcd member.
func (a *Agents) members() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for name, h := range a.hosts {
		if h.controlPlane {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
