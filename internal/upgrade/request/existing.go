package request

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// InProgress returns the operation in progress with the same target, scope and node selector, nil
// if there is none. An operation that is being aborted or deleted does not count. A version and the
// ClusterRelease that reaches it are the same target.
func InProgress(existing []refitv1alpha1.ClusterUpgrade, spec refitv1alpha1.ClusterUpgradeSpec) *refitv1alpha1.ClusterUpgrade {
	want := policy.Defaulted(spec)
	for i := range existing {
		u := &existing[i]
		if u.HasEnded() || u.Spec.Aborted || !u.DeletionTimestamp.IsZero() {
			continue
		}
		is := policy.Defaulted(u.Spec)
		if reaches(u, want.Target) && is.Scope == want.Scope && maps.Equal(is.NodeSelector, want.NodeSelector) {
			return u
		}
	}
	return nil
}

// reaches reports whether an operation has a target, or a plan that ends there.
func reaches(u *refitv1alpha1.ClusterUpgrade, target refitv1alpha1.Target) bool {
	if u.Spec.Target == target {
		return true
	}
	plan := u.Status.Plan
	if plan == nil || len(plan.Hops) == 0 {
		return false
	}
	last := plan.Hops[len(plan.Hops)-1]
	if target.Release != "" {
		return last.Release.Name == target.Release
	}
	return last.Kubernetes == target.Kubernetes
}

// Differs returns the parts of the wanted spec that an operation with the same target lacks:
// waivers, pools or both. It is empty if the operation has all of them.
func Differs(want, is refitv1alpha1.ClusterUpgradeSpec) string {
	var out []string
	if slices.ContainsFunc(want.Waivers, func(w refitv1alpha1.Waiver) bool { return !slices.Contains(is.Waivers, w) }) {
		out = append(out, "waivers")
	}
	if len(want.Pools) > 0 && !reflect.DeepEqual(policy.Defaulted(want).Pools, policy.Defaulted(is).Pools) {
		out = append(out, "pools")
	}
	return strings.Join(out, " and ")
}

// Unfinished returns the names of the operations that have not ended.
func Unfinished(existing []refitv1alpha1.ClusterUpgrade) []string {
	return Names(slices.DeleteFunc(slices.Clone(existing), func(u refitv1alpha1.ClusterUpgrade) bool { return u.HasEnded() }))
}

// Names returns the names of operations.
func Names(operations []refitv1alpha1.ClusterUpgrade) []string {
	out := make([]string, 0, len(operations))
	for i := range operations {
		out = append(out, operations[i].Name)
	}
	return out
}
