package plan

import (
	"errors"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ordersDenied is a webhook that denies every order.
func ordersDenied(w *world) bool {
	if !w.ordersDeniedSince.IsZero() || w.dice.IntN(3) > 0 {
		return false
	}
	w.note("! a webhook denies orders")
	w.ordersDeniedSince = w.now
	return true
}

// claimsRefused is an admission policy that refuses a status with more active nodes.
func claimsRefused(w *world) bool {
	if w.claimsRefused || w.dice.IntN(3) > 0 {
		return false
	}
	w.note("! admission refuses claims")
	w.claimsRefused = true
	return true
}

// orderDeleted deletes a NodeUpgrade. What its agent does meanwhile is not known.
func orderDeleted(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.upgrade != nil })
	if m == nil || w.dice.IntN(3) > 0 {
		return false
	}
	w.note("! the NodeUpgrade %s is deleted", m.name)
	m.upgrade, w.restored = nil, true
	m.upgradeVersion++
	return true
}

// reportDeleted deletes a NodeReport, which its agent writes again.
func reportDeleted(w *world) bool {
	m := w.pick(func(m *machine) bool { return m.report != nil && !m.agent.absent })
	if m == nil {
		return false
	}
	w.note("! the NodeReport %s is deleted", m.name)
	m.report, m.reportRequest = nil, 0
	return true
}

// deniedActions are the actions of a decision that a webhook denies.
func (w *world) deniedActions(d *Decision) []FailedAction {
	var out []FailedAction
	for _, a := range d.Actions {
		since, err := w.deniedSince, errors.New("cannot patch node: admission webhook nodes.example.com denied the request")
		switch {
		case patchesNode(a.Kind):
		case permits[a.Kind] != "":
			since, err = w.ordersDeniedSince, errors.New("cannot update NodeUpgrade: admission webhook orders.example.com denied the request")
		case a.Component != nil:
			since, err = w.ordersDeniedSince, errors.New("cannot update ComponentUpgrade: admission webhook orders.example.com denied the request")
		default:
			continue
		}
		if a.Component != nil && !since.IsZero() {
			out = append(out, FailedAction{Kind: a.Kind, Component: a.Component.Name, Since: since, Err: err})
			continue
		}
		if !since.IsZero() {
			out = append(out, FailedAction{Kind: a.Kind, Node: a.Node, Since: since, Err: err})
		}
	}
	return out
}

// reportRefusedClaims is what the controller reports of a status that was refused.
func (w *world) reportRefusedClaims(d *Decision) {
	if !w.claimsRefused || !slices.ContainsFunc(d.Actions, func(a Action) bool { return a.Kind == Claim }) {
		return
	}
	d.State = Stalled
	d.Waiting = append([]Wait{{
		Reason: refitv1alpha1.ReasonStatusRefused, ManualIntervention: true, Message: "the API refused the status of this operation", Remedy: "check the policies",
	}}, d.Waiting...)
}
