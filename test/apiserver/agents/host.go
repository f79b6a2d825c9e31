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

// host is one machine with its kubelet and its agent.
type host struct {
	agents       *Agents
	name         string
	controlPlane bool
	server       *server // nil on a worker

	status, facts, kubelet newest // what is told

	mu       sync.Mutex
	uid      types.UID
	seen     *corev1.Node // as it joined
	versions map[string]string
	memory   node.HostState
	journal  []node.Record
	order    *refitv1alpha1.NodeUpgrade // the newest that was heard of
	working  bool
	toldAt   time.Time // of the status
	request  int64     // the newest question
}

// sawNode hears of a Node. One that is new, or has joined anew, gets a host.
func (a *Agents) sawNode(object any, gone bool) {
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

// join makes the host the one of a Node that is new.
func (h *host) join(n *corev1.Node) {
	h.uid, h.seen = n.UID, n
	version := n.Status.NodeInfo.KubeletVersion
	h.versions = map[string]string{node.StepKubelet: version, node.StepAPIServer: version, node.StepControllers: version, node.StepEtcd: etcdVersion}
	h.journal, h.order = nil, nil
}

// start brings up what runs on the host, and reports.
func (h *host) start(ctx context.Context) {
	if h.controlPlane && h.server == nil {
		listening, err := h.agents.authority.listen(h.version(node.StepAPIServer))
		if err != nil {
			panic(err) // there is no loopback address
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

// host is the one of this name, nil if there is none yet.
func (a *Agents) host(name string) *host {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hosts[name]
}

// members are the names of the hosts that have an etcd member.
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
