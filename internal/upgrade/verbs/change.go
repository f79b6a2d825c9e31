package verbs

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Waive adds a waiver to an operation. It replaces the one for the same check and object.
func Waive(o Operation, w refitv1alpha1.Waiver) (Decision, error) {
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("operation %s is being aborted: it cannot be changed", o.Name)
	case slices.Contains(o.Spec.Waivers, w):
		return Decision{Message: fmt.Sprintf("%s has this waiver already.", o.Name)}, nil
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) {
			s.Waivers = slices.DeleteFunc(s.Waivers, func(is refitv1alpha1.Waiver) bool { return is.Check == w.Check && is.Object == w.Object })
			s.Waivers = append(s.Waivers, w)
		},
		Exact: true, Message: fmt.Sprintf("Waived %s in %s. %s", w.Check, o.Name, approvalAfter(o)),
	}, nil
}

// SetPool changes how many nodes of a pool may be unavailable at once.
func SetPool(o Operation, name string, maxUnavailable intstr.IntOrString) (Decision, error) {
	at := slices.IndexFunc(o.Spec.Pools, func(p refitv1alpha1.Pool) bool { return p.Name == name })
	switch {
	case o.Spec.Aborted:
		return Decision{}, fmt.Errorf("operation %s is being aborted: it cannot be changed", o.Name)
	case at < 0 && name != policy.DefaultPool:
		return Decision{}, fmt.Errorf("operation %s has no pool %s; its pools: %s", o.Name, name, poolNames(o))
	case at >= 0 && o.Spec.Pools[at].MaxUnavailable != nil && *o.Spec.Pools[at].MaxUnavailable == maxUnavailable:
		return Decision{Message: fmt.Sprintf("The pool %s of %s has this value already.", name, o.Name)}, nil
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) {
			if name == policy.DefaultPool {
				request.DefaultPool(s) // it exists from here on
			}
			for i := range s.Pools {
				if s.Pools[i].Name == name {
					s.Pools[i].MaxUnavailable = &maxUnavailable
				}
			}
		},
		Exact: true, Message: fmt.Sprintf("Set maxUnavailable of the pool %s in %s to %s. %s", name, o.Name, maxUnavailable.String(), approvalAfter(o)),
	}, nil
}

func poolNames(o Operation) string {
	names := []string{policy.DefaultPool}
	for i := range o.Spec.Pools {
		if name := o.Spec.Pools[i].Name; name != policy.DefaultPool {
			names = append(names, name)
		}
	}
	return orNone(names)
}

// approvalAfter describes the effect of a changed plan. Waivers and pools are a part of the plan.
func approvalAfter(o Operation) string {
	switch {
	case o.Spec.Approval == refitv1alpha1.ApprovalNone:
		return fmt.Sprintf("The plan changes with it. If it needs approval, `%s status %s` shows the command.", o.Command, o.Name)
	case o.Spec.ApprovedPlan != "": // another plan is approved by its hash only, which is not known yet
		return fmt.Sprintf("The plan changes with it and needs approval: `%s status %s` shows the command.", o.Command, o.Name)
	}
	return fmt.Sprintf("The plan changes with it and needs approval: `%s approve %s`.", o.Command, o.Name)
}
