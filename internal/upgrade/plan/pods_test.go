package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// workload is a Deployment and its budget.
type workload struct {
	name           string
	budget         bool
	maxUnavailable int32 // of its budget
	anyNode        bool  // also on the control plane
	stuck          bool  // a finalizer keeps its pods: they can be neither evicted nor deleted
	keepsData      bool  // it is a StatefulSet whose pods have an emptyDir
	pods           []*pod
}

// pod is one replica. It has no machine while it is pending.
type pod struct {
	on      *machine
	readyAt time.Time
	lostAt  time.Time // since when its machine is not ready
}

const namespace = "shop"

func (p *pod) ready(now time.Time) bool { return p.on != nil && p.on.ready && !now.Before(p.readyAt) }

func (l *workload) healthy(now time.Time) int32 {
	var n int32
	for _, p := range l.pods {
		if p.ready(now) {
			n++
		}
	}
	return n
}

func (l *workload) desired() int32 { return max(0, int32(len(l.pods))-l.maxUnavailable) }

// allowed is how many disruptions the budget allows, as its controller computes it.
func (l *workload) allowed(now time.Time) int32 { return max(0, l.healthy(now)-l.desired()) }

// evict is the eviction API. A pod that is not ready may be evicted while enough others are
// healthy.
func (l *workload) evict(p *pod, now time.Time) error {
	if l.stuck {
		return errors.New("its grace period has expired, and the finalizer example.com/hold keeps it")
	}
	if l.budget && l.allowed(now) <= 0 && (p.ready(now) || l.healthy(now) < l.desired() || l.desired() == 0) {
		return fmt.Errorf("PodDisruptionBudget %s/%s allows %d more disruptions", namespace, l.name, l.allowed(now))
	}
	p.on = nil
	return nil
}

// lose makes the pods of a removed machine pending.
func (l *workload) lose(m *machine) {
	for _, p := range l.pods {
		if p.on == m {
			p.on = nil
		}
	}
}

// runPods is the scheduler, the kubelets and the controller that evicts pods of unreachable nodes.
func (w *world) runPods() {
	const giveUp = 5 * time.Minute
	for _, load := range w.workloads {
		for _, p := range load.pods {
			if p.on != nil && p.on.ready {
				p.lostAt = time.Time{}
			}
			if p.on != nil && !p.on.ready {
				if p.lostAt.IsZero() {
					p.lostAt = w.now
				}
				if w.now.Sub(p.lostAt) >= giveUp {
					p.on, p.lostAt = nil, time.Time{}
				}
			}
			if p.on == nil {
				w.schedule(load, p)
			}
		}
	}
}

// schedule binds a pod to the machine with the fewest pods of its workload.
func (w *world) schedule(load *workload, p *pod) {
	var best *machine
	fewest := 0
	for _, m := range w.machines {
		if !m.ready || m.cordoned || (m.controlPlane && !load.anyNode && len(w.machines) > 1) {
			continue
		}
		here := 0
		for _, other := range load.pods {
			if other.on == m {
				here++
			}
		}
		if best == nil || here < fewest {
			best, fewest = m, here
		}
	}
	if best != nil {
		p.on, p.readyAt, p.lostAt = best, w.now.Add(w.duration(2, 4)), time.Time{}
	}
}

// observePods adds pods and budgets to a Snapshot.
func (w *world) observePods(s *cluster.Snapshot) {
	for i, load := range w.workloads {
		observed := cluster.Workload{
			Namespace: namespace, Kind: load.kind(), Name: load.name, Pods: int32(len(load.pods)), Ready: load.healthy(w.now), LocalData: load.keepsData,
		}
		if load.budget {
			observed.Budgets = []string{load.name}
			s.Budgets = append(s.Budgets, cluster.Budget{
				Namespace: namespace, Name: load.name, MaxUnavailable: strconv.Itoa(int(load.maxUnavailable)), Observed: true,
				Expected: observed.Pods, Matched: observed.Pods, Healthy: observed.Ready, Desired: load.desired(), Allowed: load.allowed(w.now),
			})
		}
		s.Workloads = append(s.Workloads, observed)
		for j, m := range w.machines {
			set := cluster.PodSet{Workload: i}
			for _, p := range load.pods {
				if p.on == m {
					set.Count++
					if !p.ready(w.now) {
						set.Unready++
					}
				}
			}
			if set.Count > 0 {
				s.Nodes[j].Pods = append(s.Nodes[j].Pods, set)
			}
		}
	}
}

// podsOn counts the pods that a drain of a machine has to move.
func (w *world) podsOn(m *machine) int {
	n := 0
	for _, load := range w.workloads {
		for _, p := range load.pods {
			if p.on == m {
				n++
			}
		}
	}
	return n
}

// drainPods is one round of the drain: it evicts what it may, and writes the status.
func (w *world) drainPods(who *controller, m *machine, remove bool) {
	order := m.upgrade.Spec
	status := refitv1alpha1.DrainStatus{Sequence: order.Sequence, Phase: refitv1alpha1.DrainDraining, StartTime: stamp(who.clock(w)), Delete: remove}
	if old := m.upgrade.Status.Drain; old != nil && old.Sequence == order.Sequence {
		status.StartTime = old.StartTime
	}
	moved := 0
	for _, load := range w.workloads {
		for i, p := range load.pods {
			if p.on != m {
				continue
			}
			err := w.dataLost(load)
			if err == nil {
				err = load.evict(p, w.now)
			}
			if err != nil && remove && !load.stuck && w.dataLost(load) == nil {
				w.checkDelete(m)
				p.on, err = nil, nil
			}
			if err == nil {
				moved++
				continue
			}
			status.Remaining++
			if len(status.Blockers) < refitv1alpha1.MaxBlockers {
				status.Blockers = append(status.Blockers, refitv1alpha1.Blocker{Pod: w.podName(load, i), Reason: err.Error()})
			}
		}
	}
	switch {
	case status.Remaining == 0:
		status.Phase, status.CompletionTime = refitv1alpha1.DrainDrained, stamp(w.now)
	case moved == 0:
		status.Phase = refitv1alpha1.DrainBlocked
	}
	if m.since.drained.Before(m.since.claimed) {
		m.since.drained = w.now
	}
	m.writeUpgrade(func(u *cluster.Upgrade) { u.Status.Drain = &status })
}

// dataLost is why pods of a workload are neither evicted nor deleted: the user has not waived the
// loss of their data.
func (w *world) dataLost(load *workload) error {
	owner := load.kind() + " " + namespace + "/" + load.name
	if !load.keepsData || policy.MayLoseData(&w.op.Spec, owner) {
		return nil
	}
	return errors.New("its data in an emptyDir would be lost: waive LocalDataLost for " + owner)
}

func (l *workload) kind() string {
	if l.keepsData {
		return "StatefulSet"
	}
	return "Deployment"
}

// podName is namespace/name of a pod.
func (w *world) podName(load *workload, i int) string {
	name := fmt.Sprintf("%s/%s-%d", namespace, load.name, i+1)
	if w.longPods {
		name = strings.Repeat("n", 63-len(namespace)) + name + strings.Repeat("p", 253)
	}
	return name[:min(len(name), 63+1+253)]
}

// scale changes how many pods a workload has.
func (l *workload) scale(to int) {
	for len(l.pods) < to {
		l.pods = append(l.pods, &pod{})
	}
	l.pods = slices.Clone(l.pods[:to])
}
