package verbs

import (
	"fmt"
	"reflect"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Amendment are the parts of a spec that Amend replaces. A nil list and an empty rollback stay.
type Amendment struct {
	Waivers  []refitv1alpha1.Waiver
	Pools    []refitv1alpha1.Pool
	Rollback refitv1alpha1.Rollback
}

// apply returns the names of the parts that it changes in a spec.
func (a Amendment) apply(s *refitv1alpha1.ClusterUpgradeSpec) (changed []string) {
	before := policy.Defaulted(*s)
	if a.Waivers != nil {
		s.Waivers = a.Waivers
	}
	if a.Pools != nil {
		s.Pools = a.Pools
	}
	if a.Rollback != "" {
		s.Rollback = a.Rollback
	}
	after := policy.Defaulted(*s)
	if len(before.Waivers)+len(after.Waivers) > 0 && !reflect.DeepEqual(before.Waivers, after.Waivers) {
		changed = append(changed, "waivers")
	}
	if !reflect.DeepEqual(before.Pools, after.Pools) {
		changed = append(changed, "pools")
	}
	if before.Rollback != after.Rollback {
		changed = append(changed, "rollback")
	}
	return changed
}

// InvalidError is the error of an amendment that the API server would reject.
type InvalidError struct{ Err error }

func (e InvalidError) Error() string { return e.Err.Error() }

func (e InvalidError) Unwrap() error { return e.Err }

// Amend replaces the waivers, the pools or the rollback of an operation.
func Amend(o Operation, a Amendment) (Decision, error) {
	if o.Spec.Aborted {
		return Decision{}, fmt.Errorf("operation %s is being aborted: it cannot be changed", o.Name)
	}
	spec := o.Spec.DeepCopy()
	changed := a.apply(spec)
	if len(changed) == 0 {
		return Decision{Message: fmt.Sprintf("%s has these values already.", o.Name)}, nil
	}
	if err := request.Validate(spec); err != nil {
		return Decision{}, InvalidError{err}
	}
	message := fmt.Sprintf("Changed %s of %s.", phrase.List(changed), o.Name)
	if changed[0] != "rollback" { // it is no part of the plan
		message += " " + approvalAfter(o)
	}
	return Decision{
		Change: func(s *refitv1alpha1.ClusterUpgradeSpec) { a.apply(s) }, Exact: true, Message: message,
	}, nil
}
