package clusterupgrade

import (
	"context"
	"errors"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// observation is one look at a cluster, and what was decided on it.
type observation struct {
	operation *refitv1alpha1.ClusterUpgrade
	snapshot  *cluster.Snapshot
	nodes     map[string]*cluster.Node
	now       time.Time

	checks   *preflight.Report // nil once something was begun
	plan     *plan.Plan        // nil if there is none
	unmade   error             // why not
	decision plan.Decision
}

// assess decides. What disrupts is decided on a reading that is fresh, and so is what an outdated one may have held up, or what a person may have mended.
func (r *Reconciler) assess(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (*observation, error) {
	if _, _, known := r.World.Age(); !known {
		if err := r.World.Read(ctx); err != nil {
			return nil, err
		}
	}
	obs, err := r.observe(operation)
	if err != nil {
		return nil, err
	}
	age, took, _ := r.World.Age()
	matters, outdated := obs.disrupts() || obs.blocking() != nil || obs.decision.State == plan.Stalled, r.World.Outdated()
	switch judge(matters, len(operation.Status.Active) > 0, outdated, age, took) {
	case renew:
		r.World.ReadBeside(ctx)
	case readFirst:
		earliest := time.Now()
		if !outdated {
			earliest = earliest.Add(-limit(took)) // one that is under way will do
		}
		if err := r.World.ReadSince(ctx, earliest); err != nil {
			return nil, err
		}
		return r.observe(operation)
	case good:
	}
	return obs, nil
}

// limit is how old a reading may be on which something that matters is decided. On a large cluster a reading takes longer than that; then three times as long.
func limit(took time.Duration) time.Duration { return max(5*time.Second, 3*took) }

// verdict is whether a decision may stand on the reading that it was made on.
type verdict int

const (
	good      verdict = iota
	renew             // and a new one shall be made meanwhile: to wait for it would hold thousands of nodes up for seconds, again and again
	readFirst         // no: it should have been renewed by now, or nobody wanted it for long
)

// long is a reading that nobody wants to wait for. While nodes are at work something that matters is decided soon, and such a reading is kept fresh for it.
const long = 250 * time.Millisecond

func judge(matters, atWork, outdated bool, age, took time.Duration) verdict {
	switch {
	case outdated:
		return readFirst
	case age <= limit(took):
		return good
	case !matters && atWork && took > long:
		return renew
	case !matters:
		return good
	case age <= limit(took)+2*took:
		return renew
	}
	return readFirst
}

func (r *Reconciler) observe(operation *refitv1alpha1.ClusterUpgrade) (*observation, error) {
	snapshot, err := r.World.Look(operation)
	if err != nil {
		return nil, err
	}
	obs := &observation{operation: operation, snapshot: snapshot, nodes: make(map[string]*cluster.Node, len(snapshot.Nodes)), now: r.Now().UTC()}
	for i := range snapshot.Nodes {
		obs.nodes[snapshot.Nodes[i].Name] = &snapshot.Nodes[i]
	}
	obs.decide()
	return obs, nil
}

// decide checks, plans and asks what to do.
func (o *observation) decide() {
	spec := policy.Defaulted(o.operation.Spec)
	if o.plan, o.unmade = o.makePlan(spec); o.unmade != nil {
		o.decision = stalled(refitv1alpha1.ReasonBlocked, "There is no way to the target: "+o.unmade.Error(),
			"make another ClusterUpgrade with a target that can be reached")
		if !errors.Is(o.unmade, plan.ErrTarget) {
			o.decision.Waiting[0].Remedy = "see that the nodes and the API servers tell their versions"
		}
		return
	}
	if !o.begun() && !o.operation.Spec.Aborted {
		o.check(spec)
		if finding := o.blocking(); finding != nil {
			o.decision = stalled(refitv1alpha1.ReasonBlocked, finding.Check+": "+finding.Message, finding.Remedy)
			return
		}
	}
	o.decision = plan.Next(o.plan, o.snapshot, o.now)
}

// makePlan plans. Once something was begun, an outline will do, as long as it is of the plan that the status tells of.
func (o *observation) makePlan(spec refitv1alpha1.ClusterUpgradeSpec) (*plan.Plan, error) {
	if told := o.operation.Status.Plan; told != nil && o.begun() {
		if outline, err := plan.Outline(o.snapshot, spec); err != nil || outline.Hash == told.Hash {
			return outline, err
		}
	}
	return plan.Make(o.snapshot, spec)
}

// begun says whether the operation has touched a node. From then on the gates of each step stand for the checks.
func (o *observation) begun() bool {
	return len(o.operation.Status.Active) > 0 || o.changed()
}

// changed says whether a node was ever ordered to change.
func (o *observation) changed() bool {
	for i := range o.snapshot.Nodes {
		u := o.snapshot.Nodes[i].Upgrade
		if u != nil && u.Spec.Operation.UID == o.operation.UID && u.Spec.Permit != refitv1alpha1.PermitPrefetch && u.Spec.Permit != refitv1alpha1.PermitHold {
			return true
		}
	}
	return false
}

func (o *observation) check(spec refitv1alpha1.ClusterUpgradeSpec) {
	path, err := plan.PathOf(o.snapshot, spec)
	if err != nil {
		return // Make has said so
	}
	report := preflight.Run(preflight.Input{Snapshot: o.snapshot, Spec: spec, Path: path, Now: o.now})
	o.checks = &report
}

// blocking is the first finding that keeps the operation from going on, nil if there is none. What only an agent or a Release can answer blocks, too: there is
// nothing more to wait for.
func (o *observation) blocking() *preflight.Finding {
	if o.checks == nil {
		return nil
	}
	for i := range o.checks.Findings {
		if f := &o.checks.Findings[i]; f.Severity == preflight.Block && f.Waived == nil {
			return f
		}
	}
	return nil
}

// stalled is a decision to wait for a person.
func stalled(reason, message, remedy string) plan.Decision {
	return plan.Decision{
		State: plan.Stalled, Doing: message,
		Waiting: []plan.Wait{{Reason: reason, Person: true, Message: message, Remedy: remedy}},
	}
}

// disruptive are the acts that take something from somebody, or let an agent do so.
var disruptive = map[plan.ActionKind]bool{plan.Claim: true, plan.Cordon: true, plan.Drain: true, plan.Apply: true, plan.Free: true, plan.Finish: true}

func (o *observation) disrupts() bool {
	for i := range o.decision.Do {
		if disruptive[o.decision.Do[i].Kind] {
			return true
		}
	}
	return false
}
