package plan

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// addOn is a component of a scenario: its installed version, and the versions that the
// ClusterReleases of a version of Kubernetes offer.
type addOn struct {
	name, installed string
	offers          map[string][]refitv1alpha1.ReleaseComponent
}

// simulatedComponent is a component and its objects, which are replaced and never changed.
type simulatedComponent struct {
	name      string
	installed string // empty if it is not
	values    int    // raised by the user
	observed  *cluster.Component
	order     *cluster.ComponentUpgrade
	version   int64 // resourceVersion of the order
	restore   string
}

// componentAgent is refit-components. All that it knows is in its objects.
type componentAgent struct {
	stopped bool
	fails   bool      // the next step fails
	next    time.Time // when the open step ends
	problem bool      // offers have a problem that blocks
	// uncomputed is set if the problem keeps the changes from being computed.
	uncomputed bool
	// valuesChanged is set once the user has changed values: the plan's hash may then change with
	// everything.
	valuesChanged bool

	inputs string
	offers map[string][]refitv1alpha1.ComponentOffer
}

// newRelease is a ClusterRelease with the components of the scenario.
func (w *world) newRelease(version string) cluster.Release {
	out := releaseOf(version)
	for _, c := range w.addOns {
		out.Components = append(out.Components, c.offers[version]...)
	}
	return out
}

func (w *world) buildComponents(addOns []addOn) {
	for _, a := range addOns {
		w.components = append(w.components, &simulatedComponent{name: a.name, installed: a.installed})
	}
	w.publishOffers()
}

func (w *world) component(name string) *simulatedComponent {
	for _, c := range w.components {
		if c.name == name {
			return c
		}
	}
	return nil
}

// componentsChanged updates the inputs of plans.
func (w *world) componentsChanged() {
	w.inputs++
	if w.componentAgent.valuesChanged {
		w.meaning++
	}
}

// kubernetes is the version of the oldest API server.
func (w *world) kubernetes() string {
	oldest := ""
	for _, m := range w.machines {
		if m.controlPlane && (oldest == "" || w.parse(m.apiServer.version).Before(w.parse(oldest))) {
			oldest = m.apiServer.version
		}
	}
	return oldest
}

// publishOffers writes what each ClusterRelease would change.
func (w *world) publishOffers() {
	current := w.kubernetes()
	var installed []component.Installed
	for _, c := range w.components {
		if version := c.reported(); version != "" {
			installed = append(installed, component.Installed{Name: c.name, Version: version, ByRefit: true})
		}
	}
	var plan []refitv1alpha1.PlannedComponent
	if w.op.Plan != nil && !w.op.Ended {
		plan = w.op.Plan.Components
	}
	if inputs := w.offerInputs(current); inputs != w.componentAgent.inputs {
		w.componentAgent.inputs, w.componentAgent.offers = inputs, w.offers(current, installed, plan)
	}
	offers := w.componentAgent.offers
	for _, c := range w.components {
		if c.busy() && c.observed != nil {
			continue
		}
		status := refitv1alpha1.ComponentStatus{Owner: refitv1alpha1.OwnerNone, Offers: offers[c.name]}
		version := c.reported()
		if version != "" {
			status.Owner = refitv1alpha1.OwnerRefit
			status.Installed = &refitv1alpha1.InstalledComponent{Version: version, Namespace: c.name, Name: c.name, Revision: 1}
		}
		if c.observed == nil || !reflect.DeepEqual(c.observed.Status, status) {
			c.observed = &cluster.Component{Name: c.name, Manage: refitv1alpha1.ManageRefit, Status: status, ByRefit: version != ""}
			w.componentsChanged()
		}
	}
}

// busy reports whether steps of the component run: its status is written after them.
func (c *simulatedComponent) busy() bool {
	if c.order == nil {
		return false
	}
	phase := c.order.Status.Phase
	return phase == refitv1alpha1.ComponentRollingBack || phase == refitv1alpha1.ComponentApplying && componentplan.Changing(c.order)
}

// reported is the version in the status of the component: the one before an upgrade that stopped.
func (c *simulatedComponent) reported() string {
	if c.order == nil || component.Replaceable(c.order.Status) {
		return c.installed
	}
	switch c.order.Status.Phase {
	case refitv1alpha1.ComponentFailed, refitv1alpha1.ComponentApplying:
		return c.order.Status.From
	case refitv1alpha1.ComponentIdle, refitv1alpha1.ComponentRollingBack, refitv1alpha1.ComponentSucceeded, refitv1alpha1.ComponentRolledBack:
	}
	return c.installed
}

// offerInputs is what the offers depend on: to compute them again at each tick takes most of the
// time of a simulation.
func (w *world) offerInputs(current string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %p %t %t", current, w.op.Plan, w.op.Ended, w.componentAgent.problem)
	for _, c := range w.components {
		fmt.Fprintf(&text, " %s@%s/%d", c.name, c.reported(), c.values)
	}
	for i := range w.releases {
		fmt.Fprintf(&text, " %s", w.releases[i].Name)
	}
	return text.String()
}

// offers are the offers of each component.
func (w *world) offers(current string, installed []component.Installed, plan []refitv1alpha1.PlannedComponent) map[string][]refitv1alpha1.ComponentOffer {
	offers := map[string][]refitv1alpha1.ComponentOffer{}
	for i := range w.releases {
		r := &w.releases[i]
		if len(r.Components) == 0 || w.parse(r.Payload.Kubernetes).Before(w.parse(current)) {
			continue
		}
		for _, c := range w.components {
			wanted, _, err := component.WantedOf(c.name, current, component.Release{Kubernetes: r.Payload.Kubernetes, Components: r.Components}, installed, plan)
			w.require(err == nil, "no offers: %v", err)
			for j := range wanted {
				offers[c.name] = append(offers[c.name], w.offer(&wanted[j], r))
			}
			offers[c.name] = append(offers[c.name], w.removal(c, r, current)...)
		}
	}
	return offers
}

// removal is the offer of a removal, if a ClusterRelease causes one.
func (w *world) removal(c *simulatedComponent, target *cluster.Release, current string) []refitv1alpha1.ComponentOffer {
	var all []component.Release
	for i := range w.releases {
		all = append(all, component.Release{Kubernetes: w.releases[i].Payload.Kubernetes, Components: w.releases[i].Components})
	}
	at, removed := component.RemovalOf(c.name, c.installed, component.Release{Kubernetes: target.Payload.Kubernetes, Components: target.Components}, all)
	if !removed {
		return nil
	}
	p := component.Wanted{Placed: component.Placed{Action: component.Remove, Component: c.name, From: c.installed}}
	out := w.offer(&p, &w.releases[at])
	out.Version, out.Kubernetes = c.installed, current
	return []refitv1alpha1.ComponentOffer{out}
}

func (w *world) offer(p *component.Wanted, r *cluster.Release) refitv1alpha1.ComponentOffer {
	out := refitv1alpha1.ComponentOffer{
		Release: refitv1alpha1.ReleaseRef{Name: r.Name, Digest: r.Digest}, Version: p.To, Action: refitv1alpha1.ComponentAction(p.Action),
		Kubernetes: p.Kubernetes, Changes: refitv1alpha1.ObjectChanges{Change: 3},
	}
	out.Digest = fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Append(nil, p.Action, p.Component, p.From, p.To, p.Kubernetes, w.component(p.Component).values, r.Name)))
	if w.componentAgent.problem {
		if w.componentAgent.uncomputed {
			out.Digest = ""
		}
		out.Problems = []refitv1alpha1.ComponentProblem{{
			Reason: "CRDRefusesObjects", Object: "Gateway edge/east", Message: "spec.port is required", Remedy: "Set spec.port", Blocks: true,
		}}
	}
	return out
}

// componentSteps are the steps of an upgrade. The freeze is in force from the first to the last.
var componentSteps = []string{"freeze", "crds", "wave-rest", "verify"}

// runComponents is refit-components.
func (w *world) runComponents() {
	if w.componentAgent.stopped || len(w.components) == 0 || !w.reachable() {
		return
	}
	for _, c := range w.components {
		if c.order != nil {
			w.runComponent(c)
		}
	}
	w.publishOffers()
}

func (w *world) writeComponent(c *simulatedComponent, change func(*cluster.ComponentUpgrade)) {
	next := *c.order
	next.Status = *c.order.Status.DeepCopy()
	change(&next)
	c.order = &next
	c.version++
	w.componentsChanged()
}

func (w *world) runComponent(c *simulatedComponent) {
	if string(c.order.Spec.Operation.UID) != w.op.UID {
		return
	}
	if c.order.Status.ObservedSequence != c.order.Spec.Sequence && !componentplan.Refused(c.order) {
		w.writeComponent(c, func(u *cluster.ComponentUpgrade) { w.accept(c, u) })
		return
	}
	status := &c.order.Status
	open := slices.IndexFunc(status.Steps, func(s refitv1alpha1.StepStatus) bool { return s.State == refitv1alpha1.StepRunning })
	switch {
	case status.Phase != refitv1alpha1.ComponentApplying && status.Phase != refitv1alpha1.ComponentRollingBack:
	case open >= 0 && w.now.Before(w.componentAgent.next):
	case open >= 0:
		w.writeComponent(c, func(u *cluster.ComponentUpgrade) { w.endStep(c, u, open) })
	case c.order.Spec.Permit == refitv1alpha1.PermitHold && status.Phase == refitv1alpha1.ComponentApplying:
		if status.Frozen != nil {
			w.writeComponent(c, func(u *cluster.ComponentUpgrade) { u.Status.Frozen, u.Status.Step = nil, "" })
		}
	case len(status.Steps) == 0 && c.order.Spec.NotAfter != nil && w.now.After(c.order.Spec.NotAfter.Time):
	default:
		if len(status.Steps) == 0 && c.order.Spec.NotAfter == nil {
			w.checkOpen("the change of component %s starts", c.name)
		}
		w.writeComponent(c, func(u *cluster.ComponentUpgrade) { w.startStep(u) })
	}
}

// accept takes an order: it continues what was started, or starts what was approved.
func (w *world) accept(c *simulatedComponent, u *cluster.ComponentUpgrade) {
	s := &u.Status
	continues := s.Phase == refitv1alpha1.ComponentApplying || s.Phase == refitv1alpha1.ComponentRollingBack || s.Phase == refitv1alpha1.ComponentFailed && len(s.Steps) > 0
	offered := slices.ContainsFunc(c.observed.Status.Offers, func(o refitv1alpha1.ComponentOffer) bool {
		runs := o.Kubernetes == u.Spec.Kubernetes || o.Action == refitv1alpha1.ActionRemove
		return o.Release == u.Spec.Release && o.Action == u.Spec.Action && o.Version == u.Spec.Version && o.Digest == u.Spec.Digest && runs
	})
	accepted := metav1.Condition{Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonAccepted, ObservedGeneration: u.Generation}
	switch {
	case continues:
	case u.Spec.Permit == refitv1alpha1.PermitHold:
	case !offered, w.componentAgent.problem: // which may be newer than the offer
		accepted.Status, accepted.Reason, accepted.Message = metav1.ConditionFalse, "OfferChanged", "the changes are not those that were approved"
	default:
		*s = refitv1alpha1.ComponentUpgradeStatus{Phase: refitv1alpha1.ComponentApplying, From: c.installed, StartTime: stamp(w.now), Journal: u.Spec.Sequence}
		c.restore = c.installed
	}
	if s.Phase == "" {
		s.Phase = refitv1alpha1.ComponentIdle
	}
	if u.Spec.Attempt > s.Attempt && s.Phase == refitv1alpha1.ComponentFailed && accepted.Status == metav1.ConditionTrue {
		s.Phase, s.Error = refitv1alpha1.ComponentApplying, nil
		s.Steps = slices.DeleteFunc(s.Steps, func(step refitv1alpha1.StepStatus) bool { return step.State == refitv1alpha1.StepFailed })
	}
	s.Attempt = u.Spec.Attempt
	s.Conditions = []metav1.Condition{accepted}
	if accepted.Status == metav1.ConditionTrue {
		s.ObservedSequence = u.Spec.Sequence
	}
}

func (w *world) startStep(u *cluster.ComponentUpgrade) {
	s := &u.Status
	w.componentAgent.next = w.now.Add(w.duration(2, 4))
	if s.Phase == refitv1alpha1.ComponentRollingBack {
		s.Step = "back"
		s.Steps = append(s.Steps, refitv1alpha1.StepStatus{Name: s.Step, State: refitv1alpha1.StepRunning, StartTime: stamp(w.now)})
		return
	}
	if s.Frozen == nil {
		s.Frozen = &refitv1alpha1.FrozenStatus{Since: metav1.NewTime(w.now), Limit: metav1.Duration{Duration: time.Hour}}
	}
	s.Step = componentSteps[min(len(s.Steps), len(componentSteps)-1)]
	s.Steps = append(s.Steps, refitv1alpha1.StepStatus{Name: s.Step, State: refitv1alpha1.StepRunning, StartTime: stamp(w.now)})
}

func (w *world) endStep(c *simulatedComponent, u *cluster.ComponentUpgrade, at int) {
	s := &u.Status
	step := &s.Steps[at]
	step.State, step.CompletionTime = refitv1alpha1.StepDone, stamp(w.now)
	switch {
	case step.Name == "back":
		c.installed = c.restore
		s.Phase, s.Step, s.CompletionTime = refitv1alpha1.ComponentRolledBack, "", stamp(w.now)
		s.Frozen = nil
	case w.componentAgent.fails:
		w.componentAgent.fails = false
		step.State, s.Frozen = refitv1alpha1.StepFailed, nil
		s.Error = &refitv1alpha1.NodeError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "NotReady", Step: step.Name, Message: "Deployment " + c.name + " is not ready",
			Remedy: "Fix the cause, then run `refit retry`", At: metav1.NewTime(w.now),
		}
		s.Phase, s.Step = refitv1alpha1.ComponentFailed, ""
		if u.Spec.Rollback != refitv1alpha1.RollbackManual && at > 0 {
			s.Phase = refitv1alpha1.ComponentRollingBack
		}
	case step.Name == "wave-rest" && u.Spec.Action == refitv1alpha1.ActionRemove:
		c.installed = ""
	case step.Name == "wave-rest":
		c.installed = u.Spec.Version
	case step.Name == "verify":
		w.tally.components++
		s.Phase, s.Step, s.CompletionTime, s.Frozen = refitv1alpha1.ComponentSucceeded, "", stamp(w.now), nil
	}
}

// orderComponent writes the spec of a ComponentUpgrade.
func (w *world) orderComponent(who *controller, request *ComponentRequest) bool {
	c := w.component(request.Name)
	if !w.ordersDeniedSince.IsZero() || who.view.components[c.name] != c.version || who.epoch != w.op.Epoch ||
		who.view.snapshot.Operation.Generation != w.op.Generation || w.op.Ended || c.order != nil && who.epoch < c.order.Spec.Epoch {
		return false
	}
	next := cluster.ComponentUpgrade{Name: c.name}
	if c.order != nil {
		next = *c.order
	}
	next.Generation++
	next.Spec = refitv1alpha1.ComponentUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: w.op.Name, UID: types.UID(w.op.UID)}, Sequence: next.Spec.Sequence + 1, Epoch: who.epoch,
		Attempt: request.Attempt, Release: request.Release, Version: request.Version, Action: request.Action,
		Kubernetes: request.Kubernetes, Digest: request.Digest,
		Permit: request.Permit, Rollback: w.op.Spec.Rollback, OrderTime: stamp(who.clock(w)),
	}
	if !request.NotAfter.IsZero() {
		next.Spec.NotAfter = stamp(request.NotAfter)
	}
	w.require(request.Digest != "", "I12: an order for %s names no digest", c.name)
	c.order = &next
	c.version++
	w.componentsChanged()
	if request.Permit == refitv1alpha1.PermitApply {
		w.checkOpen("the change of component %s is ordered", c.name)
		w.checkComponentOrder(who, c)
	}
	return true
}

// checkComponentOrder checks that a component changes alone, and only in an operation that is not
// held (I12).
func (w *world) checkComponentOrder(who *controller, ordered *simulatedComponent) {
	spec := &w.op.Spec
	w.require(!spec.Aborted && !spec.Paused, "I12: component %s is changed while the operation is held", ordered.name)
	w.require(spec.Approval == refitv1alpha1.ApprovalNone || spec.ApprovedPlan != "", "I12: component %s is changed without approval", ordered.name)
	w.checkOneComponent()
	if !who.fresh {
		return
	}
	for _, m := range w.machines {
		w.require(!m.controlPlane || !slices.Contains(w.op.Active, m.name), "I12: component %s is changed while control plane node %s is active", ordered.name, m.name)
	}
	problem := slices.ContainsFunc(ordered.observed.Status.Offers, func(o refitv1alpha1.ComponentOffer) bool {
		return o.Digest == ordered.order.Spec.Digest && len(o.Problems) > 0
	})
	w.require(!problem || len(ordered.order.Status.Steps) > 0, "I12: component %s is changed although its offer has a problem", ordered.name)
	w.checkImages(who, ordered)
}

// checkImages checks that every node of the plan that runs the version of a ClusterRelease has its
// images when the first component of it changes (I12). The others prefetch before an upgrade.
func (w *world) checkImages(who *controller, ordered *simulatedComponent) {
	release := ordered.order.Spec.Release.Name
	if ordered.order.Spec.Action == refitv1alpha1.ActionRemove || len(ordered.order.Status.Steps) > 0 {
		return
	}
	spec := policy.Defaulted(w.op.Spec)
	for i := range who.view.snapshot.Nodes {
		n := &who.view.snapshot.Nodes[i]
		m := w.machine(n.Name)
		if m == nil || m.uid != n.UID || policy.Exclusion(&spec, n) != "" || n.CreatedAt.After(simulationStart) || n.Kubelet != w.payload(release).Kubernetes {
			continue
		}
		there := slices.Contains(m.agent.fetched, release) || m.agent.done == release
		w.require(there, "I12: component %s is changed, and %s has no images of %s", ordered.name, m.name, release)
	}
}

// checkOneComponent checks that one component changes at a time (I12).
func (w *world) checkOneComponent() {
	var changing []string
	for _, c := range w.components {
		if c.order != nil && componentplan.Changing(c.order) {
			changing = append(changing, c.name)
		}
	}
	w.require(len(changing) <= 1, "I12: components %v are changed at once", changing)
}

// checkComponentsIdle checks that no component changes beside a control plane node (I12).
func (w *world) checkComponentsIdle(next *machine) {
	for _, c := range w.components {
		w.require(c.order == nil || !componentplan.Changing(c.order), "I12: %s is claimed or changed while component %s is changed", next.name, c.name)
	}
}

// checkComponentsFit checks that every component runs on the version that a control plane node gets
// (I12), unless no ClusterRelease leads it there, which preflight blocks.
func (w *world) checkComponentsFit(s *cluster.Snapshot, next *machine, release string) {
	spec := policy.Defaulted(w.op.Spec)
	path, err := PathOf(s, spec)
	w.require(err == nil, "no path: %v", err)
	noPath := componentplan.Of(s, &spec, path, policy.ComponentReleases(s, &spec, path)).NoPath
	for i := range w.releases {
		r := &w.releases[i]
		if r.Name != release {
			continue
		}
		var installed []component.Installed
		for _, c := range w.components {
			if c.installed != "" {
				installed = append(installed, component.Installed{Name: c.name, Version: c.installed})
			}
		}
		placed, _, err := component.Place(w.kubernetes(), []component.Release{{Kubernetes: r.Payload.Kubernetes, Components: r.Components}}, installed, nil)
		w.require(err == nil, "%v", err)
		for _, p := range placed {
			if slices.ContainsFunc(noPath, func(n component.NoPath) bool { return n.Component == p.Component }) {
				continue
			}
			// Others are placed there by their publisher, or for what needs them.
			w.require(!p.Before || p.Action != component.Upgrade || !strings.Contains(p.Reason, " does not run on "), "I12: %s is upgraded to %s, on which component %s %s does not run",
				next.name, r.Payload.Kubernetes, p.Component, p.From)
		}
	}
}

// checkComponentsDone checks that an operation that succeeds has changed every component, and that
// one that is aborted leaves none in the midst of a step.
func (w *world) checkComponentsDone(p *Plan) {
	for _, c := range w.components {
		w.require(c.order == nil || !componentplan.Changing(c.order), "I12: the operation ends while component %s is changed", c.name)
		want := c.installed
		for i := range p.components {
			if p.components[i].Component == c.name {
				want = p.components[i].To
			}
		}
		w.require(w.op.end != Succeeded || c.installed == want, "I12: the operation succeeds with component %s at %q, and the plan has %s", c.name, c.installed, want)
	}
}

// observeComponents adds the components to an observation.
func (w *world) observeComponents(out *observation) {
	for _, c := range w.components {
		out.components[c.name], out.installed[c.name] = c.version, c.installed
		out.snapshot.Components = append(out.snapshot.Components, *c.observed)
		if c.order != nil {
			out.snapshot.ComponentUpgrades = append(out.snapshot.ComponentUpgrades, *c.order)
		}
	}
}

// restoreComponents restores the components with etcd: Helm and refit-components keep nothing
// elsewhere.
func (w *world) restoreComponents(to *observation) {
	for _, c := range w.components {
		c.version++
		c.order, c.installed = to.snapshot.ComponentUpgrade(c.name), to.installed[c.name]
		c.observed = to.snapshot.Component(c.name)
	}
}

// fixComponent is a user who does what the operation requires for a component.
func (w *world) fixComponent(wait *Wait) {
	w.note("* the user fixes component %s", wait.Component)
	w.componentAgent.stopped, w.componentAgent.fails, w.componentAgent.problem = false, false, false
	for _, c := range w.components {
		if c.order != nil && string(c.order.Spec.Operation.UID) != w.op.UID {
			w.writeComponent(c, func(u *cluster.ComponentUpgrade) {
				u.Status.Phase, u.Status.ObservedSequence = refitv1alpha1.ComponentSucceeded, u.Spec.Sequence
			})
		}
	}
	if wait.Reason == refitv1alpha1.ReasonComponentFailed {
		if w.dice != nil && w.dice.IntN(5) == 0 {
			w.abort()
			return
		}
		w.retry()
	}
}

// What happens to components.

func componentsStop(w *world) bool {
	if len(w.components) == 0 {
		return false
	}
	w.note("! refit-components %s", map[bool]string{true: "starts", false: "is killed"}[w.componentAgent.stopped])
	w.componentAgent.stopped = !w.componentAgent.stopped
	return true
}

func componentWillFail(w *world) bool {
	if len(w.components) == 0 {
		return false
	}
	w.componentAgent.fails = true
	return true
}

func componentProblemAppears(w *world) bool {
	if len(w.components) == 0 || w.dice.IntN(3) > 0 {
		return false
	}
	w.note("! a component has a problem")
	w.componentAgent.problem = true
	return true
}

func valuesChange(w *world) bool {
	if len(w.components) == 0 || w.dice.IntN(3) > 0 {
		return false
	}
	c := w.components[w.dice.IntN(len(w.components))]
	w.changeValues(c)
	return true
}

func (w *world) changeValues(c *simulatedComponent) {
	w.note("! the user changes the values of component %s", c.name)
	c.values++
	w.componentAgent.valuesChanged = true
}

func componentOrderDeleted(w *world) bool {
	var all []*simulatedComponent
	for _, c := range w.components {
		if c.order != nil && !componentplan.Changing(c.order) {
			all = append(all, c)
		}
	}
	if len(all) == 0 || w.dice.IntN(3) > 0 {
		return false
	}
	w.deleteOrder(all[w.dice.IntN(len(all))])
	return true
}

func (w *world) deleteOrder(c *simulatedComponent) {
	w.note("! the ComponentUpgrade %s is deleted", c.name)
	c.order = nil
	c.version++
	w.componentAgent.valuesChanged = true // what is left of a partial change counts as installed
	w.componentsChanged()
}
