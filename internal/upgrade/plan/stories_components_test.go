package plan

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// componentStories are about components.
var componentStories = []story{
	{
		name: "component-before-and-after",
		summary: "The installed version of gateway does not run on the next Kubernetes, so it is upgraded before the control plane. " +
			"mesh is upgraded after it, and before the workers.",
		scenario: minor(shape(3, 1), withComponents(gateway, mesh)), ends: Succeeded,
	},
	{
		name:     "component-two-hops",
		summary:  "gateway is upgraded before each hop. The changes of the second upgrade are computed once the first hop is complete.",
		scenario: minor(shape(1, 1), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1"), withComponents(gateway)), ends: Succeeded,
	},
	{
		name:     "component-order-deleted",
		summary:  "The ComponentUpgrade of gateway is deleted after its second upgrade. The first one counts as done, and the second hop follows.",
		scenario: minor(shape(1, 1), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1"), withComponents(gateway)), ends: Succeeded,
		script: []scriptEvent{{reached("gateway", "v1.2.0"), func(t *storyRun) { t.deleteOrder(t.component("gateway")) }}},
	},
	{
		name: "component-removed",
		summary: "The target no longer has console, and the ClusterRelease that console came with has onRemove: Uninstall. " +
			"It is removed after the control plane and after the upgrade of mesh, which may have needed it.",
		scenario: minor(shape(1, 1), withComponents(console, mesh)), ends: Succeeded,
	},
	{
		name:     "component-removal-fails",
		summary:  "The removal of console fails and is rolled back. The user fixes the cause and retries.",
		scenario: minor(shape(1, 0), withComponents(console, mesh)), ends: Succeeded,
		script: []scriptEvent{
			{executing("console", "wave-rest"), func(t *storyRun) { t.componentAgent.fails = true }},
			{later(5, is(Stalled)), func(t *storyRun) { t.retry() }},
		},
	},
	{
		name: "component-removal-release-deleted",
		summary: "The ClusterRelease with the policy is deleted once console is removed, and another one with console is added. " +
			"The plan that was approved stays, and the workers follow.",
		scenario: minor(shape(1, 1), withComponents(console, mesh)), ends: Succeeded,
		script: []scriptEvent{{removed("console"), func(t *storyRun) {
			t.note("! the user deletes the ClusterRelease v1.35.4 and adds v1.37.1, both with console")
			added := t.newRelease("v1.37.1")
			added.Components = []refitv1alpha1.ReleaseComponent{{Name: "console", Version: "v1.0.0", OnRemove: refitv1alpha1.RemoveUninstall}}
			t.releases = append(slices.DeleteFunc(slices.Clone(t.releases), func(r cluster.Release) bool { return r.Payload.Kubernetes == "v1.35.4" }), added)
			t.inputs++
		}}},
	},
	{
		name: "component-fails",
		summary: "The new version of gateway does not become ready and is rolled back. The operation stalls before the control plane changes. " +
			"The user fixes the cause and retries.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Succeeded,
		script: []scriptEvent{
			{changingComponent("wave-rest"), func(t *storyRun) { t.componentAgent.fails = true }},
			{later(5, is(Stalled)), func(t *storyRun) { t.retry() }},
		},
	},
	{
		name:     "component-fails-manual",
		summary:  "The new version of gateway does not become ready, and rollback is Manual. The retry continues at the step that failed.",
		scenario: minor(shape(1, 0), withComponents(gateway), spec(manual)), ends: Succeeded,
		script: []scriptEvent{
			{changingComponent("wave-rest"), func(t *storyRun) { t.componentAgent.fails = true }},
			{later(5, is(Stalled)), func(t *storyRun) { t.retry() }},
		},
	},
	{
		name:     "component-paused",
		summary:  "The user pauses while gateway is upgraded. The open step completes, and the upgrade of gateway continues once the operation is resumed.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Succeeded,
		script: []scriptEvent{
			{changingComponent("crds"), edits(pause, "the user pauses")},
			{later(20, is(Paused)), edits(resume, "the user resumes")},
		},
	},
	{
		name:     "component-aborted",
		summary:  "The user aborts while gateway is upgraded. The open step completes, the freeze is lifted, and the operation ends.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Aborted,
		script: []scriptEvent{{changingComponent("crds"), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "component-values-change",
		summary:  "The user changes the values of mesh after the control plane was upgraded. mesh would change otherwise than approved, so the plan is approved again.",
		scenario: minor(shape(1, 0), withComponents(mesh)), ends: Succeeded,
		script: []scriptEvent{
			{upgraded("cp-1"), func(t *storyRun) { t.changeValues(t.component("mesh")) }},
			{later(5, is(AwaitingApproval)), func(t *storyRun) { t.approve() }},
		},
	},
	{
		name:     "component-blocked",
		summary:  "The new CRDs of gateway refuse an object since the upgrade has started. gateway is upgraded once the user has fixed the object.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Succeeded,
		script: []scriptEvent{
			{at(1), func(t *storyRun) {
				t.note("* the user creates an object that the new CRDs refuse")
				t.componentAgent.problem, t.componentAgent.uncomputed = true, true
			}},
			{later(5, is(Stalled)), func(t *storyRun) {
				t.note("* the user fixes the object")
				t.componentAgent.problem = false
			}},
		},
	},
	{
		name:     "component-agent-stopped",
		summary:  "refit-components does not run. The operation reports that after ten minutes, and continues once it runs.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Succeeded,
		before: func(w *world) { w.componentAgent.stopped = true },
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) { componentsStop(t.world) }}},
	},
	{
		name:     "component-killed",
		summary:  "refit-components is killed during a step, and continues with it later.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Succeeded,
		script: []scriptEvent{
			{changingComponent("crds"), func(t *storyRun) { componentsStop(t.world) }},
			{later(5, changingComponent("crds")), func(t *storyRun) { componentsStop(t.world) }},
		},
	},
	{
		name:     "component-taken",
		summary:  "gateway is still being changed for an operation that no longer exists. It is ordered once that has ended.",
		scenario: minor(shape(1, 0), withComponents(gateway)), ends: Succeeded,
		before: takesComponent("gateway"),
		script: []scriptEvent{{at(20), endsOther("gateway")}},
	},
	{
		name:     "component-beside-another",
		summary:  "mesh is still being changed for an operation that no longer exists. gateway waits for it.",
		scenario: minor(shape(1, 0), withComponents(gateway, mesh)), ends: Succeeded,
		before: takesComponent("mesh"),
		script: []scriptEvent{{at(20), endsOther("mesh")}},
	},
	{
		name:     "component-beside-control-plane",
		summary:  "mesh is still being changed for an operation that no longer exists. No control plane node changes beside it.",
		scenario: minor(shape(1, 0), withComponents(mesh)), ends: Succeeded,
		before: takesComponent("mesh"),
		script: []scriptEvent{{at(20), endsOther("mesh")}},
	},
	{
		name:     "component-claimed-by-hand",
		summary:  "Someone has claimed a control plane node by hand before gateway is upgraded, on which the new version relies. It is released unchanged.",
		scenario: minor(shape(3, 0), withComponents(gateway)), ends: Succeeded,
		script: []scriptEvent{{changingComponent("crds"), claimedByHand("cp-3")}},
	},
}

// aloneStories are about components that are upgraded on the version of Kubernetes that runs.
var aloneStories = []story{
	{
		name: "alone",
		summary: "Kubernetes stays, and gateway and mesh are upgraded. Every node prefetches their images before the first of them changes. " +
			"No node is drained, cordoned or changed, and the orders to prefetch are withdrawn at the end.",
		scenario: minor(alone(gateway, mesh)), ends: Succeeded,
	},
	{
		name:     "alone-prefetch-fails",
		summary:  "worker-2 cannot fetch the images of mesh. mesh is upgraded once the user has fixed the mirror and retried.",
		scenario: minor(shape(1, 2), alone(mesh)), ends: Succeeded,
		before: func(w *world) { w.machine("worker-2").agent.fails = true },
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) {
			t.note("* the user fixes the mirror")
			t.machine("worker-2").agent.fails = false
			t.retry()
		}}},
	},
	{
		name:     "alone-aborted",
		summary:  "The user aborts while nodes prefetch. The orders are withdrawn, and no component has changed.",
		scenario: minor(shape(1, 2), alone(mesh)), ends: Aborted,
		script: []scriptEvent{{phased("worker-1", refitv1alpha1.NodePrefetching), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "alone-worker-joins",
		summary:  "A worker joins while gateway is upgraded. It prefetches before mesh, which runs on every node.",
		scenario: minor(shape(1, 1), alone(gateway, mesh)), ends: Succeeded,
		script: []scriptEvent{{changingComponent("crds"), func(t *storyRun) {
			t.note("! worker-9 joins at v1.36.3")
			t.join("worker-9", false, "v1.36.3", map[string]string{"zone": "a"})
		}}},
	},
	{
		name:     "alone-older-worker-joins",
		summary:  "A worker of an older version joins while gateway is upgraded. The plan drains no node, so it is neither drained nor upgraded.",
		scenario: minor(shape(1, 1), alone(gateway, mesh)), ends: Succeeded,
		script: []scriptEvent{{changingComponent("crds"), func(t *storyRun) {
			t.note("! worker-9 joins at v1.36.1")
			t.join("worker-9", false, "v1.36.1", map[string]string{"zone": "a"})
		}}},
	},
	{
		name:     "alone-order-deleted",
		summary:  "The NodeUpgrade of worker-1 is deleted once mesh has started. mesh is not held up by it.",
		scenario: minor(shape(1, 1), alone(mesh)), ends: Succeeded,
		script: []scriptEvent{{executing("mesh", "crds"), func(t *storyRun) {
			t.note("! the NodeUpgrade of worker-1 is deleted")
			t.machine("worker-1").upgrade = nil
			t.machine("worker-1").upgradeVersion++
		}}},
	},
	{
		name:     "alone-workers-behind",
		summary:  "worker-2 was left at v1.36.1. It is upgraded with the components, and the other nodes prefetch the images of mesh only.",
		scenario: minor(shape(1, 2), alone(mesh)), ends: Succeeded,
		before: func(w *world) {
			m := w.machine("worker-2")
			m.kubelet.version, m.nodeVersion = "v1.36.1", "v1.36.1"
		},
	},
}

// alone upgrades components on the version of Kubernetes that runs.
func alone(all ...addOn) func(*scenario) {
	return func(sc *scenario) {
		upgradePath("v1.36.3", "v1.36.3", "v1.36.3")(sc)
		sc.addOns = all
	}
}

// phased is when an agent reports a phase for its order.
func phased(name string, phase refitv1alpha1.NodePhase) func(*storyRun) bool {
	return func(t *storyRun) bool {
		u := t.machine(name).upgrade
		return u != nil && u.Status.Phase == phase
	}
}

// gateway runs on two minor versions of Kubernetes in each of its own, and mesh on all. console is
// not in the targets.
var (
	gateway = addOn{name: "gateway", installed: "v1.0.0", offers: map[string][]refitv1alpha1.ReleaseComponent{
		"v1.36.3": {{Name: "gateway", Version: "v1.1.0", Fits: inStep("v1.35.4")}},
		"v1.37.1": {{Name: "gateway", Version: "v1.2.0", Fits: inStep("v1.35.4")}},
	}}
	console = addOn{name: "console", installed: "v1.0.0", offers: map[string][]refitv1alpha1.ReleaseComponent{
		"v1.35.4": {{Name: "console", Version: "v1.0.0", OnRemove: refitv1alpha1.RemoveUninstall}},
	}}
	mesh = addOn{name: "mesh", installed: "v2.0.0", offers: map[string][]refitv1alpha1.ReleaseComponent{
		"v1.36.3": {{Name: "mesh", Version: "v2.1.0"}},
	}}
)

func withComponents(all ...addOn) func(*scenario) { return func(sc *scenario) { sc.addOns = all } }

// changingComponent is when refit-components executes a step of gateway.
func changingComponent(step string) func(*storyRun) bool { return executing("gateway", step) }

// executing is when refit-components executes a step of a component.
func executing(name, step string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		order := t.component(name).order
		return order != nil && order.Status.Step == step
	}
}

// removed is when a component was removed.
func removed(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		order := t.component(name).order
		return order != nil && order.Status.Phase == refitv1alpha1.ComponentSucceeded
	}
}

// reached is when a component was upgraded to a version.
func reached(name, version string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		order := t.component(name).order
		return order != nil && order.Spec.Version == version && order.Status.Phase == refitv1alpha1.ComponentSucceeded && componentplan.Answered(order)
	}
}

// takesComponent is an order of another operation that is being executed.
func takesComponent(name string) func(*world) {
	return func(w *world) {
		c := w.component(name)
		c.order = &cluster.ComponentUpgrade{Name: name, Generation: 1, Spec: refitv1alpha1.ComponentUpgradeSpec{
			Operation: refitv1alpha1.Operation{Name: "earlier", UID: "earlier-uid"}, Sequence: 7, Epoch: 1, Permit: refitv1alpha1.PermitApply, OrderTime: stamp(w.now),
		}}
		c.order.Status = refitv1alpha1.ComponentUpgradeStatus{Phase: refitv1alpha1.ComponentApplying, ObservedSequence: 7}
		w.componentsChanged()
	}
}

func endsOther(name string) func(*storyRun) {
	return func(t *storyRun) {
		t.note("! the other change of %s ends", name)
		t.writeComponent(t.component(name), func(u *cluster.ComponentUpgrade) { u.Status.Phase = refitv1alpha1.ComponentSucceeded })
	}
}
