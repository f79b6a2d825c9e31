package preflight

import (
	"cmp"
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// componentsNotInstalled reports that a ClusterRelease of the path has components and nothing in
// the cluster upgrades them.
func componentsNotInstalled(v *view) []Finding {
	if len(v.unread([]cluster.Part{cluster.PartComponents})) > 0 {
		return nil
	}
	if slices.ContainsFunc(v.s.Components, func(c cluster.Component) bool { return c.Observed() || c.Stalled() != "" }) && !v.componentsRemoved() {
		return nil
	}
	for _, h := range v.componentHops() {
		if len(h.release.Components) > 0 && v.componentsRun() {
			return []Finding{{
				Message: fmt.Sprintf("ClusterRelease %s has components, such as %s, and refit-components has not read them: it may not trust their key",
					h.release.Name, h.release.Components[0].Name),
				Remedy: "Wait a minute, then run the check again. If it stays, read the log: " +
					command("kubectl -n refit-components logs deployment/refit-components") +
					". To trust another key: " + command("refit install --components --release-key FILE") + ".",
			}}
		}
		if len(h.release.Components) > 0 {
			return []Finding{{
				Deferred: !v.s.Installed,
				Message: fmt.Sprintf("ClusterRelease %s has components, such as %s, and refit-components does not run",
					h.release.Name, h.release.Components[0].Name),
				Remedy: "Install it: " + command("refit install --components") + ". To leave the components as they are, waive this check.",
			}}
		}
	}
	return nil
}

// componentsRemoved reports whether refit-components has no pods although it has written statuses:
// these outlive it. A running operation reports what it waits for.
func (v *view) componentsRemoved() bool {
	if v.s.Operation != nil || len(v.s.Workloads) == 0 || len(v.unread([]cluster.Part{cluster.PartPods})) > 0 {
		return false
	}
	return !v.componentsRun()
}

// componentsRun reports whether refit-components has pods.
func (v *view) componentsRun() bool {
	return slices.ContainsFunc(v.s.Workloads, func(w cluster.Workload) bool { return w.Namespace == "refit-components" && w.Pods > 0 })
}

// componentHops are the hops that change components. The last one does even if it changes nothing
// else.
func (v *view) componentHops() []hop {
	if v.Spec.Scope == refitv1alpha1.ScopeWorkers {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.hops), func(h hop) bool { return h.release == nil || h.catchUp && !h.last })
}

// componentsUnknown reports components whose changes are not known yet. Only those of the first hop
// can be.
func componentsUnknown(v *view) []Finding {
	var found []Finding
	seen := map[string]bool{}
	for i := range v.components.Steps {
		step := &v.components.Steps[i]
		first := !seen[step.Component] && step.Hop == v.firstHop()
		seen[step.Component] = true
		if !first || step.Started || componentplan.OfferOf(v.s, step) != nil || len(v.s.Components) == 0 || v.blockedByProblem(step) {
			continue
		}
		what := "refit-components has not computed yet what it changes"
		if offer := componentplan.AnyOffer(v.s, step); offer != nil {
			what = fmt.Sprintf("what it changes was computed for Kubernetes %s, and it would change on %s", offer.Kubernetes, step.Kubernetes)
		}
		remedy := "Wait a minute, then run the check again. If it stays, read the log: "
		if c := v.s.Component(step.Component); c != nil && c.Stalled() != "" {
			what, remedy = "refit-components cannot compute what it changes: "+c.Stalled(), "Fix the cause; refit-components tries again by itself. Its log: "
		}
		found = append(found, Finding{
			Unknown: true, Object: "Component " + step.Component,
			Message: fmt.Sprintf("%s %s of ClusterRelease %s: %s", step.Component, step.Version(), step.Release.Name, what),
			Remedy:  remedy + command("kubectl -n refit-components logs deployment/refit-components"),
		})
	}
	return found
}

// firstHop is the index of the first hop that changes the control plane.
func (v *view) firstHop() int {
	return slices.IndexFunc(v.hops, func(h hop) bool { return !h.catchUp || h.last })
}

func (v *view) blockedByProblem(step *componentplan.Step) bool {
	offer := componentplan.AnyOffer(v.s, step)
	return offer != nil && slices.ContainsFunc(offer.Problems, func(p refitv1alpha1.ComponentProblem) bool { return p.Blocks })
}

// componentHasNoPath reports components that cannot follow the upgrade.
func componentHasNoPath(v *view) []Finding {
	var found []Finding
	for _, n := range v.components.NoPath {
		found = append(found, Finding{
			Object: "Component " + n.Component, Message: n.Message,
			Remedy: "Ask the publisher for a ClusterRelease with a version in between, or remove the component.",
		})
	}
	for _, step := range v.components.Observed {
		found = append(found, Finding{
			Object: "Component " + step.Component,
			Message: fmt.Sprintf("%s %s does not run on Kubernetes %s, and another tool manages it",
				step.Component, step.From, v.hops[step.Hop]),
			Remedy: fmt.Sprintf("Upgrade it to %s with that tool, or let Refit do it: set spec.manage of the Component to Refit.", step.To),
		})
	}
	return append(found, v.componentProblems(componentplan.CheckNoPath)...)
}

// componentNotInRelease reports components that stay although the target does not have them. Nobody
// knows whether they run on its Kubernetes; and the components of a ClusterRelease are signed apart
// from it, so that somebody may have removed them.
func componentNotInRelease(v *view) []Finding {
	hops := v.componentHops()
	if len(hops) == 0 {
		return nil
	}
	target := hops[len(hops)-1].release
	var found []Finding
	for i := range v.s.Components {
		c := &v.s.Components[i]
		has := func(r refitv1alpha1.ReleaseComponent) bool { return r.Name == c.Name }
		removed := func(s componentplan.Step) bool {
			return s.Component == c.Name && s.Action == refitv1alpha1.ActionRemove
		}
		if !c.ByRefit || c.Status.Installed == nil || c.Manage == refitv1alpha1.ManageObserve || target.ComponentsError != "" ||
			slices.ContainsFunc(target.Components, has) || slices.ContainsFunc(v.components.Steps, removed) {
			continue
		}
		message := fmt.Sprintf("ClusterRelease %s does not have %s, which Refit installed: %s stays, and whether it runs on Kubernetes %s is unknown",
			target.Name, c.Name, c.Status.Installed.Version, target.Payload.Kubernetes)
		if len(target.Components) == 0 {
			message += "; it has no components at all"
		}
		found = append(found, Finding{
			Object: "Component " + c.Name, Message: message,
			Remedy: "If the publisher has not dropped it, apply the signed file of the ClusterRelease again, which has the components.",
		})
	}
	return found
}

// otherComponentProblem reports what no check of its own reports.
func otherComponentProblem(v *view) []Finding {
	found := v.componentProblems(componentplan.CheckOtherProblem)
	if err := v.components.Problem; err != nil {
		found = append(found, Finding{
			Message: "the components cannot be planned: " + err.Error(), Remedy: "Ask the publisher of the ClusterReleases to fix their components.",
		})
	}
	for _, h := range v.componentHops() {
		if h.release.ComponentsError != "" {
			found = append(found, Finding{
				Object: "ClusterRelease " + h.release.Name, Message: "its components cannot be used: " + h.release.ComponentsError,
				Remedy: "Apply the file of the signed ClusterRelease again: `kubectl apply --server-side -f FILE`.",
			})
		}
	}
	return found
}

// componentProblemsOf returns the check of a reason of refit-components.
func componentProblemsOf(check string) func(*view) []Finding {
	return func(v *view) []Finding { return v.componentProblems(check) }
}

// componentProblems reports the problems of the offers that the upgrade takes. Those of later hops
// are computed again before them, so they do not block yet.
func (v *view) componentProblems(check string) []Finding {
	var found []Finding
	hops := v.componentHops()
	for i := range v.s.Components {
		c := &v.s.Components[i]
		for j := range c.Status.Offers {
			offer := &c.Status.Offers[j]
			at := slices.IndexFunc(hops, func(h hop) bool {
				return h.release.Name == offer.Release.Name && h.release.Digest == offer.Release.Digest
			})
			if at < 0 || !c.Observed() || !v.takes(c.Name, offer) {
				continue
			}
			for k := range offer.Problems {
				if p := &offer.Problems[k]; componentplan.CheckOf(p) == check {
					found = append(found, v.componentProblem(c.Name, p, at > 0, &hops[at]))
				}
			}
		}
	}
	found = append(found, v.removalProblems(check)...)
	return slices.CompactFunc(found, func(a, b Finding) bool { return a.Object == b.Object && a.Message == b.Message })
}

// removalProblems reports the problems of removals, whose offers name the ClusterRelease of the
// installed version. They do not depend on the hop.
func (v *view) removalProblems(check string) (found []Finding) {
	for i := range v.components.Steps {
		step := &v.components.Steps[i]
		if step.Action != refitv1alpha1.ActionRemove || step.Started {
			continue
		}
		offer := componentplan.AnyOffer(v.s, step)
		if offer == nil {
			continue
		}
		for k := range offer.Problems {
			if p := &offer.Problems[k]; componentplan.CheckOf(p) == check {
				found = append(found, v.componentProblem(step.Component, p, false, nil))
			}
		}
	}
	return found
}

// takes reports whether the upgrade takes an offer. All offers count for a component without a
// step: what speaks against them may be why.
func (v *view) takes(name string, offer *refitv1alpha1.ComponentOffer) bool {
	planned := false
	for i := range v.components.Steps {
		step := &v.components.Steps[i]
		if step.Component != name {
			continue
		}
		if componentplan.AnyOffer(v.s, step) == offer {
			return true
		}
		planned = true
	}
	return !planned
}

func (v *view) componentProblem(name string, p *refitv1alpha1.ComponentProblem, later bool, h *hop) Finding {
	f := Finding{Severity: Warn, Object: componentplan.ProblemObject(name, p), Message: fmt.Sprintf("component %s: %s", name, p.Message)}
	if componentplan.CheckOf(p) == componentplan.CheckOtherProblem {
		f.Message = fmt.Sprintf("component %s: %s: %s", name, p.Reason, p.Message)
	}
	if p.Blocks && !later {
		f.Severity = Block
	}
	if later {
		f.Message += fmt.Sprintf(" (as of now; it is computed again before %s)", h)
	}
	otherwise := "Consider it before you approve the plan."
	if p.Blocks {
		otherwise = "Fix what the message describes; refit-components computes it again."
	}
	f.Remedy = cmp.Or(p.Remedy, otherwise)
	return f
}
