//go:build apiserver

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

var appsDeployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// monitor watches a cluster independently of the controllers, each resource in the order of its
// changes, and records violations.
type monitor struct {
	b *bed
	// mostAway is how many workers may be unavailable at once.
	mostAway int

	mu     sync.Mutex
	broken []string
	nodes  map[string]*corev1.Node
	orders map[string]*refitv1alpha1.NodeUpgrade
	pods   map[string]*corev1.Pod
	epochs map[string]int64
}

func newMonitor(b *bed) *monitor {
	m := &monitor{
		b: b, mostAway: 1, nodes: map[string]*corev1.Node{}, orders: map[string]*refitv1alpha1.NodeUpgrade{}, pods: map[string]*corev1.Pod{},
		epochs: map[string]int64{},
	}
	follow(m, &corev1.NodeList{}, m.sawNode)
	follow(m, &refitv1alpha1.NodeUpgradeList{}, m.sawOrder)
	follow(m, &corev1.PodList{}, m.sawPod, client.InNamespace("shop"))
	follow(m, &refitv1alpha1.ClusterUpgradeList{}, m.sawOperation)
	return m
}

// follow calls saw for every change of a resource.
func follow[T client.Object](m *monitor, list client.ObjectList, saw func(object T, gone bool), options ...client.ListOption) {
	m.b.t.Helper()
	stream, err := m.b.client.Watch(m.b.t.Context(), list, options...)
	must(m.b.t, err)
	m.b.beside(func(ctx context.Context) {
		defer stream.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case event, open := <-stream.ResultChan():
				if !open {
					return
				}
				if object, is := event.Object.(T); is {
					m.mu.Lock()
					saw(object, event.Type == apiwatch.Deleted)
					m.mu.Unlock()
				}
			}
		}
	})
}

func (m *monitor) breaks(format string, args ...any) {
	if said := fmt.Sprintf(format, args...); !slices.Contains(m.broken, said) {
		m.broken = append(m.broken, said)
	}
}

// sawNode checks for too many cordons, and for a kubelet that is newer than the oldest control
// plane node.
func (m *monitor) sawNode(n *corev1.Node, gone bool) {
	m.nodes[n.Name] = n
	if gone { // garbage collection would delete its order, but does not run here
		delete(m.nodes, n.Name)
		delete(m.orders, n.Name)
	}
	away, oldest := 0, skew.Version{}
	for _, n := range m.nodes {
		version, _ := skew.Parse(n.Status.NodeInfo.KubeletVersion)
		if isControlPlane(n) && (oldest.IsZero() || version.Before(oldest)) {
			oldest = version
		}
		if !isControlPlane(n) && n.Spec.Unschedulable && n.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
			away++
		}
	}
	if away > m.mostAway {
		m.breaks("I2: %d workers are cordoned at once", away)
	}
	for _, n := range m.nodes {
		if version, _ := skew.Parse(n.Status.NodeInfo.KubeletVersion); !isControlPlane(n) && oldest.Before(version) {
			m.breaks("I3: the kubelet on %s is at %s while a control plane node is at %s", n.Name, version, oldest)
		}
	}
}

// sawOrder checks for too many hosts that may be changing.
func (m *monitor) sawOrder(u *refitv1alpha1.NodeUpgrade, gone bool) {
	if was := m.orders[u.Name]; was != nil && u.Spec.Epoch < was.Spec.Epoch {
		m.breaks("F2: the order of %s went from epoch %d to %d", u.Name, was.Spec.Epoch, u.Spec.Epoch)
	}
	m.orders[u.Name] = u
	if gone {
		delete(m.orders, u.Name)
	}
	var servers, workers []string
	for name, u := range m.orders {
		switch {
		case !changing(u):
		case u.Spec.Role == refitv1alpha1.RoleWorker:
			workers = append(workers, name)
		default:
			servers = append(servers, name)
		}
	}
	if len(servers) > 1 || len(servers) == 1 && len(workers) > 0 {
		m.breaks("I1: %v and %v are being changed at once", servers, workers)
	}
	if len(workers) > m.mostAway {
		m.breaks("I2: %v are being changed at once", workers)
	}
}

// changing reports whether an agent may be changing its host.
func changing(u *refitv1alpha1.NodeUpgrade) bool {
	if u.Spec.Permit != refitv1alpha1.PermitApply && u.Spec.Permit != refitv1alpha1.PermitRollback {
		return false
	}
	ended := u.Status.Phase == refitv1alpha1.NodeSucceeded || u.Status.Phase == refitv1alpha1.NodeRolledBack
	return u.Status.ObservedSequence != u.Spec.Sequence || !ended
}

// sawPod counts the pods of the app: of six, one may be unavailable.
func (m *monitor) sawPod(p *corev1.Pod, gone bool) {
	const least = 5
	m.pods[p.Name] = p
	if gone {
		delete(m.pods, p.Name)
	}
	healthy := 0
	for _, p := range m.pods {
		if p.DeletionTimestamp == nil && len(p.Status.Conditions) > 0 {
			healthy++
		}
	}
	if len(m.pods) >= 6 && healthy < least {
		m.breaks("I4: %d pods of the app are well", healthy)
	}
}

// sawOperation checks for too many claims, and for an epoch that decreases.
func (m *monitor) sawOperation(o *refitv1alpha1.ClusterUpgrade, _ bool) {
	if o.Status.Epoch < m.epochs[o.Name] && o.Generation > 1 {
		m.breaks("F2: the epoch of %s went from %d to %d", o.Name, m.epochs[o.Name], o.Status.Epoch)
	}
	m.epochs[o.Name] = o.Status.Epoch
	if len(o.Status.Active) > m.mostAway {
		m.breaks("I2: %v are claimed at once", o.Status.Active)
	}
}

// verdict fails the test if a violation was recorded.
func (m *monitor) verdict() {
	m.b.t.Helper()
	time.Sleep(100 * time.Millisecond) // for events in flight
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, said := range m.broken {
		m.b.t.Error(said)
	}
}

func isControlPlane(n *corev1.Node) bool {
	_, is := n.Labels["node-role.kubernetes.io/control-plane"]
	return is
}
