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
