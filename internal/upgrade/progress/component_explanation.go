package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// KnownComponent has the known facts of a component. Everything but the Component may be nil.
type KnownComponent struct {
	Component *refitv1alpha1.Component
	Order     *refitv1alpha1.ComponentUpgrade
	Operation *refitv1alpha1.ClusterUpgrade // that of the order, if it still exists
	// Alone are the ClusterReleases of the version of Kubernetes that runs, which change components
	// alone.
	Alone []string
}

// NewComponentExplanation explains the state of a component. The second argument is the command
// that the user types to run the CLI.
func NewComponentExplanation(clusterName, command string, k KnownComponent, now time.Time) *cliv1alpha1.ComponentExplanation {
	e := &componentExplanation{ComponentExplanation: cliv1alpha1.ComponentExplanation{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindComponentExplanation, Cluster: clusterName,
		ComponentState: NewComponentState(k.Component, k.Order),
	}, KnownComponent: k, command: command, now: now}
	if u := e.Upgrade; u != nil && u.Error != nil && e.operationEnded() {
		u.Error.Remedy = withoutRetry(u.Error.Remedy)
	}
	for _, explains := range componentStates {
		if explains(e) {
			break
		}
	}
	if f := e.frozen(); f != nil && now.After(f.Until) {
		e.next("Lift the freeze, which is past its limit", "kubectl delete validatingadmissionpolicybindings -l refit.dev/freeze")
	}
	return &e.ComponentExplanation
}

type componentExplanation struct {
	cliv1alpha1.ComponentExplanation
	KnownComponent
	command string
	now     time.Time
}

// componentStates are the possible states of a component. The first that matches is reported.
var componentStates = []func(e *componentExplanation) bool{
	unreadComponent,    // refit-components has not read it
	heldComponent,      // the operation is paused or aborted during the change
	changingComponent,  // refit-components changes it
	failedComponent,    // manual intervention is required
	refusedComponent,   // refit-components refuses the order
	observedComponent,  // another tool changes it
	gitOpsComponent,    // Refit may not change it
	unadoptedComponent, // Refit may change it once the user allows it
	offeredComponent,   // a ClusterRelease changes it
	currentComponent,   // no ClusterRelease changes it
}

func (e *componentExplanation) frozen() *cliv1alpha1.ComponentFreeze {
	if e.Upgrade == nil || e.Upgrade.Frozen == nil || e.Upgrade.Frozen.Lifted {
		return nil
	}
	return e.Upgrade.Frozen
}

func (e *componentExplanation) next(purpose, format string, args ...any) {
	e.Next = append(e.Next, cliv1alpha1.NextStep{Purpose: purpose, Command: fmt.Sprintf(format, args...)})
}

const logsOfComponents = "kubectl -n refit-components logs deployment/refit-components"

func unreadComponent(e *componentExplanation) bool {
	if e.Owner != "" {
		return false
	}
	e.Message = "refit-components has not read the component yet."
	e.next("Check that refit-components runs", "kubectl -n refit-components get pods")
	return true
}

// operationEnded reports whether the operation of the order is over.
func (e *componentExplanation) operationEnded() bool {
	return e.Operation == nil || e.Operation.HasEnded()
}

// heldComponent explains a change that the operation has stopped, and that is not complete.
func heldComponent(e *componentExplanation) bool {
	u := e.Upgrade
	if e.Order == nil || u.Permit != string(refitv1alpha1.PermitHold) || u.Phase != string(refitv1alpha1.ComponentApplying) {
		return false
	}
	stopped, open := "paused", componentplan.Changing(snapshotOf(e.Order))
	if e.Operation == nil || e.Operation.Spec.Aborted {
		stopped = "aborted"
	}
	e.Message = fmt.Sprintf("The change for %s is %s, and it is not complete: %s.", u.Operation, stopped, moveOf(u))
	switch {
	case open && u.Step != "":
		e.Message += fmt.Sprintf(" refit-components completes what the open step writes (%s) and then changes nothing more.", component.Words(u.Step))
	case open:
		e.Message += " refit-components completes what the open step writes and then changes nothing more."
	}
	switch {
	case e.operationEnded():
		e.completeNext()
	case stopped == "paused":
		e.next("Continue", "%s resume %s", e.command, u.Operation)
	default:
		e.next("Follow the abort", "%s watch %s", e.command, u.Operation)
	}
	if u.Waiting != "" && open {
		e.next("Show the log of refit-components", logsOfComponents)
	}
	return true
}

// completeNext shows the upgrade that completes a change that an operation has left. The
// ClusterRelease of a removal is the one that still has the component, so its operation has the
// target.
func (e *componentExplanation) completeNext() {
	const purpose = "Complete the change"
	switch u := e.Upgrade; {
	case u.Action != string(refitv1alpha1.ActionRemove):
		e.next(purpose, "%s upgrade --release %s%s", e.command, u.Release, e.alone(u.Release))
	case e.Operation == nil:
		e.Message += " An upgrade to a ClusterRelease without the component completes it."
	case e.Operation.Spec.Target.Release != "":
		release := e.Operation.Spec.Target.Release
		e.next(purpose, "%s upgrade --release %s%s", e.command, release, e.alone(release))
	case plan.ComponentsAlone(e.Operation.Status.Plan):
		e.next(purpose, "%s upgrade --components", e.command)
	default:
		e.next(purpose, "%s upgrade --to %s", e.command, e.Operation.Spec.Target.Kubernetes)
	}
}

// alone is the flag for a ClusterRelease that changes components alone.
func (e *componentExplanation) alone(release string) string {
	if slices.Contains(e.Alone, release) {
		return " --components"
	}
	return ""
}

func changingComponent(e *componentExplanation) bool {
	if e.Order == nil || !componentplan.Changing(snapshotOf(e.Order)) {
		return false
	}
	u := e.Upgrade
	switch phase := refitv1alpha1.ComponentPhase(u.Phase); {
	case !u.Answered && u.Phase == "":
		e.Message = fmt.Sprintf("refit-components has not observed the order of %s yet: %s.", u.Operation, moveOf(u))
	case phase == refitv1alpha1.ComponentRollingBack:
		e.Message = fmt.Sprintf("The component is being rolled back to %s, for %s.", cmp.Or(u.From, "its state before the installation"), u.Operation)
	default:
		e.Message = fmt.Sprintf("The component is being changed for %s: %s.", u.Operation, moveOf(u))
	}
	e.next("Follow the upgrade", "%s watch %s", e.command, u.Operation)
	if !u.Answered || u.Waiting != "" {
		e.next("Show the log of refit-components", logsOfComponents)
	}
	return true
}

// moveOf is what an order does.
func moveOf(u *cliv1alpha1.ComponentProgress) string {
	switch {
	case u.To == "":
		return "remove " + u.From
	case u.From == "" && u.Action == string(refitv1alpha1.ActionInstall):
		return "install " + u.To
	case u.From == "":
		return "upgrade to " + u.To
	}
	return fmt.Sprintf("upgrade from %s to %s", u.From, u.To)
}

func failedComponent(e *componentExplanation) bool {
	u := e.Upgrade
	if u == nil || u.Phase != string(refitv1alpha1.ComponentFailed) && u.Phase != string(refitv1alpha1.ComponentRolledBack) {
		return false
	}
	e.Message = fmt.Sprintf("The last change, %s for %s, failed.", moveOf(u), u.Operation)
	if err := u.Error; err != nil {
		at := "at its start"
		if err.Step != "" {
			at = "while " + component.Words(err.Step)
		}
		e.Message = fmt.Sprintf("The last change, %s for %s, failed %s: %s", moveOf(u), u.Operation, at, stop(err.Message))
	}
	if u.Phase == string(refitv1alpha1.ComponentRolledBack) {
		e.Message += fmt.Sprintf(" It was rolled back to %s and is ready.", cmp.Or(u.From, "its state before the installation"))
	}
	if !e.operationEnded() {
		e.next("Once the cause is fixed", "%s retry %s", e.command, u.Operation)
		return true
	}
	offeredNext(e)
	return true
}

func refusedComponent(e *componentExplanation) bool {
	if e.Upgrade == nil || e.Upgrade.Refused == "" || e.operationEnded() {
		return false
	}
	e.Message = fmt.Sprintf("refit-components refuses the order of %s: %s", e.Upgrade.Operation, stop(e.Upgrade.Refused))
	e.next("Show the log of refit-components", logsOfComponents)
	e.next("Once the cause is fixed", "%s retry %s", e.command, e.Upgrade.Operation)
	return true
}

func observedComponent(e *componentExplanation) bool {
	if e.Manage != string(refitv1alpha1.ManageObserve) {
		return false
	}
	e.Message = "Another tool manages the component, and Refit never changes it."
	if offer := e.blocked(); offer != nil {
		e.Message += fmt.Sprintf(" An upgrade to Kubernetes %s waits until that tool has installed %s.", offer.Kubernetes, offer.Version)
	}
	return true
}

func gitOpsComponent(e *componentExplanation) bool {
	if e.Owner != string(refitv1alpha1.OwnerFlux) && e.Owner != string(refitv1alpha1.OwnerArgoCD) {
		return false
	}
	e.Message = fmt.Sprintf("%s manages the component and would undo an upgrade, so Refit does not change it.", e.Owner)
	e.next("Let "+e.Owner+" upgrade it, and let upgrades of the cluster wait for it",
		`kubectl patch component %s --type merge -p '{"spec":{"manage":"Observe"}}'`, e.Name)
	return true
}

func unadoptedComponent(e *componentExplanation) bool {
	if e.Owner != string(refitv1alpha1.OwnerHelm) || e.Adopt {
		return false
	}
	e.Message = "Somebody installed the component with Helm, and Refit does not change it until you allow it."
	e.next("Let Refit take it over", "%s components adopt %s", e.command, e.Name)
	offeredNext(e)
	return true
}

// change is the first offer that changes the component and that nothing blocks.
func (e *componentExplanation) change() *cliv1alpha1.ComponentOffer {
	for i := range e.Offers {
		if o := &e.Offers[i]; o.Action != string(refitv1alpha1.ActionNone) && !o.Blocked() {
			return o
		}
	}
	return nil
}

// blocked is the first offer that something blocks.
func (e *componentExplanation) blocked() *cliv1alpha1.ComponentOffer {
	for i := range e.Offers {
		if e.Offers[i].Blocked() {
			return &e.Offers[i]
		}
	}
	return nil
}

func offeredComponent(e *componentExplanation) bool {
	offer := e.change()
	if offer == nil && e.blocked() == nil {
		return false
	}
	e.Message = e.installed()
	state := "."
	if offer == nil {
		offer, state = e.blocked(), ", which is blocked."
	}
	if removes(offer) {
		e.Message += " A ClusterRelease no longer has it, and an upgrade to that ClusterRelease removes it" + state
	} else {
		e.Message += fmt.Sprintf(" ClusterRelease %s has %s%s", offer.Release, offer.Version, state)
	}
	offeredNext(e)
	return true
}

func removes(o *cliv1alpha1.ComponentOffer) bool {
	return o != nil && o.Action == string(refitv1alpha1.ActionRemove)
}

func (e *componentExplanation) installed() string {
	if e.Installed == nil {
		return "The component is not installed."
	}
	return fmt.Sprintf("Version %s is installed.", e.Installed.Version)
}

// offeredNext shows the changes of an offer, and the plan if nothing blocks it.
func offeredNext(e *componentExplanation) {
	offer := e.change()
	if offer == nil {
		offer = e.blocked()
	}
	if offer == nil {
		return
	}
	if offer.Digest != "" {
		e.next("Show what changes in each object", "%s components diff %s --to %s", e.command, e.Name, offer.Release)
	}
	if !offer.Blocked() && !removes(offer) { // a removal names the ClusterRelease that still has it
		e.next("Show the plan", "%s plan --release %s%s", e.command, offer.Release, e.alone(offer.Release))
	}
}

func currentComponent(e *componentExplanation) bool {
	e.Message = e.installed() + " No ClusterRelease of the cluster changes it."
	return true
}
