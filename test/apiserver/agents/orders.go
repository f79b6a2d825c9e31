package agents

import (
	"context"
	"encoding/json"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// handleOrder handles a change of an order.
func (a *Agents) handleOrder(object any, gone bool) {
	order, is := object.(*refitv1alpha1.NodeUpgrade)
	if !is || gone {
		return
	}
	h := a.host(order.Name)
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.order = order
	h.refuse()
	if !h.working && h.hasNew() {
		h.working = true
		a.begin(h.work)
	}
}

// work executes orders until there is nothing to do.
func (h *host) work(ctx context.Context) {
	for ctx.Err() == nil {
		h.accept(ctx)
		if h.move(ctx) {
			continue
		}
		h.mu.Lock()
		idle := !h.hasNew()
		h.working = !idle
		h.mu.Unlock()
		if idle {
			return
		}
	}
}

// hasNew reports whether there is a new order for this host.
func (h *host) hasNew() bool {
	accepted, _ := h.judge()
	return accepted
}

func (h *host) judge() (accepted bool, refusal *node.Refusal) {
	if h.order == nil {
		return false, nil
	}
	here := node.Identity{NodeName: h.name, NodeUID: h.uid, MachineID: h.memory.MachineID}
	return node.Accept(h.order.Name, &h.order.Spec, h.memory, here, time.Now())
}

// refuse reports the refusal of the newest order, once, and what this host accepted last.
func (h *host) refuse() {
	_, refusal := h.judge()
	if refusal == nil || h.refused == h.order.Generation {
		return
	}
	h.refusal, h.refused = refusal, h.order.Generation
	h.writeStatus(node.Read(h.journal).Status())
	h.report()
}

// accept accepts the newest order, if it is new and for this host.
func (h *host) accept(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasNew() {
		return
	}
	spec := &h.order.Spec
	h.memory.Sequence, h.memory.Epoch, h.memory.NodeUID = spec.Sequence, spec.Epoch, spec.NodeUID
	h.refusal, h.refused = nil, 0
	defer h.report()
	h.startBackup(spec)
	if !h.belongs(spec) {
		if spec.Permit != refitv1alpha1.PermitApply && spec.Permit != refitv1alpha1.PermitPrefetch {
			h.journal = nil
			phase := refitv1alpha1.NodeIdle
			if spec.Permit == refitv1alpha1.PermitRollback {
				phase = refitv1alpha1.NodeRolledBack // nothing was changed, so there is nothing to roll back
			}
			h.writeStatus(refitv1alpha1.NodeUpgradeStatus{ObservedSequence: spec.Sequence, Phase: phase})
			return
		}
		h.journal = []node.Record{{Kind: node.Opened, At: time.Now().UTC(), Upgrade: h.workOf(ctx, spec)}}
	} else if !node.Read(h.journal).Changed() {
		// A real agent opens another journal, and finds what it has fetched already.
		upgrade := *h.journal[0].Upgrade
		upgrade.Role = spec.Role
		h.journal[0].Upgrade = &upgrade
	}
	h.record(node.Record{Kind: node.Ordered, Order: &node.Order{
		Operation: spec.Operation.UID, Sequence: spec.Sequence, Epoch: spec.Epoch, Attempt: spec.Attempt, Permit: spec.Permit, Rollback: spec.Rollback,
	}})
}

// belongs reports whether an order is about the operation in the journal.
func (h *host) belongs(spec *refitv1alpha1.NodeUpgradeSpec) bool {
	if len(h.journal) == 0 {
		return false
	}
	state := node.Read(h.journal)
	same := state.Upgrade.Operation.UID == spec.Operation.UID && state.Upgrade.Release.Digest == spec.Release.Digest
	forward := spec.Permit == refitv1alpha1.PermitApply || spec.Permit == refitv1alpha1.PermitPrefetch
	if state.Outcome != "" {
		return same && (state.Outcome == refitv1alpha1.NodeSucceeded || spec.Attempt <= state.Order.Attempt)
	}
	return !forward || state.Upgrade.Release.Digest == spec.Release.Digest && (same || state.Changed())
}

// workOf returns the operation that an order starts.
func (h *host) workOf(ctx context.Context, spec *refitv1alpha1.NodeUpgradeSpec) *node.Upgrade {
	return &node.Upgrade{
		Operation: spec.Operation, Release: spec.Release, Attempt: spec.Attempt, NodeName: h.name, NodeUID: h.uid, MachineID: h.memory.MachineID,
		Role: spec.Role, Packages: refitv1alpha1.PackageDeb,
		From: h.versions[node.StepKubelet], To: h.agents.releaseVersion(ctx, spec.Release.Name), Etcd: h.controlPlane,
	}
}

// record appends a record to the journal, and writes the resulting status.
func (h *host) record(r node.Record) {
	r.At = time.Now().UTC()
	before := node.Read(h.journal).Status()
	h.journal = append(h.journal, r)
	now := node.Read(h.journal).Status()
	// The next step starts at once: a real agent writes that one, after its minimum interval.
	progress := r.Kind != node.Done && time.Since(h.writtenAt) >= calm
	if progress || now.Phase != before.Phase || now.ObservedSequence != before.ObservedSequence {
		h.writeStatus(now)
	}
}

// calm is the minimum time between two status writes that report progress only.
const calm = 2 * time.Second

// writeStatus writes the status as a real agent does.
func (h *host) writeStatus(status refitv1alpha1.NodeUpgradeStatus) {
	h.writtenAt = time.Now()
	status.AgentVersion, status.BootID, status.Backup = agentVersion, h.name+"-boot", h.backup
	if h.refusal != nil {
		status.Conditions = node.Conditions(nil, node.Observed{Status: &status, Generation: h.refused, Refusal: h.refusal}, time.Now())
	}
	h.status.put(h.agents, func(ctx context.Context) error {
		err := h.agents.apply(ctx, &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: h.name}}, "NodeUpgrade", status)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// apply writes as an agent does: only the status, by server-side apply.
func (a *Agents) apply(ctx context.Context, object client.Object, kind string, status any) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": refitv1alpha1.GroupVersion.String(), "kind": kind, "metadata": map[string]any{"name": object.GetName()}, "status": status,
	})
	if err != nil {
		return err
	}
	return a.client.Status().Patch(ctx, object, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner("refit-agent"), client.ForceOwnership)
}
