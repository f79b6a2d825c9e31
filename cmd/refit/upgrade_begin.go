package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// underWay finds the operation that asks for the same and has neither ended nor is about to, nil if there is none.
func underWay(all []refitv1alpha1.ClusterUpgrade, wanted *refitv1alpha1.ClusterUpgrade) *refitv1alpha1.ClusterUpgrade {
	want := policy.Defaulted(wanted.Spec)
	for i := range all {
		u := &all[i]
		is := policy.Defaulted(u.Spec)
		if u.HasEnded() || u.Spec.Aborted || !u.DeletionTimestamp.IsZero() {
			continue
		}
		if is.Target == want.Target && is.Scope == want.Scope && maps.Equal(is.NodeSelector, want.NodeSelector) {
			return u
		}
	}
	return nil
}

// unfinished names the operations that have not ended.
func unfinished(all []refitv1alpha1.ClusterUpgrade) []string {
	return namesOf(slices.DeleteFunc(slices.Clone(all), func(u refitv1alpha1.ClusterUpgrade) bool { return u.HasEnded() }))
}

// begin makes the operation, with the plan approved that was shown. Two that begin the same upgrade at the same moment choose the same name: the second one
// finds the first one's operation.
func (u *upgrading) begin(ctx context.Context, o *operations, wanted *refitv1alpha1.ClusterUpgrade, hash string) (*refitv1alpha1.ClusterUpgrade, error) {
	for {
		all, err := o.all(ctx)
		if err != nil {
			return nil, err
		}
		if same := underWay(all, wanted); same != nil {
			return same, nil
		}
		name, err := u.nameFor(wanted, all)
		if err != nil {
			return nil, err
		}
		made, err := o.create(ctx, name, wanted.Spec, hash)
		if !apierrors.IsAlreadyExists(err) {
			return made, err
		}
	}
}

// nameFor is what an operation is called: as a person says, or by its target, with a number where that was used before.
func (u *upgrading) nameFor(wanted *refitv1alpha1.ClusterUpgrade, all []refitv1alpha1.ClusterUpgrade) (string, error) {
	taken := map[string]bool{}
	for i := range all {
		taken[all[i].Name] = true
	}
	for _, name := range []string{u.name, wanted.Name} {
		switch {
		case name == "":
		case taken[name]:
			return "", usage("there is an operation %s already, and it asked for something else or has ended: choose another --name", name)
		default:
			return name, nil
		}
	}
	base := defaultName(wanted.Spec.Target)
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name, nil
}

// defaultName is what an operation to a target is called.
func defaultName(target refitv1alpha1.Target) string {
	if target.Release != "" {
		return "to-" + target.Release
	}
	return "to-" + strings.ReplaceAll(target.Kubernetes, ".", "-")
}

// create makes an operation. Who may ask for upgrades but not approve plans gets one that waits for somebody who may.
func (o *operations) create(ctx context.Context, name string, spec refitv1alpha1.ClusterUpgradeSpec, hash string) (*refitv1alpha1.ClusterUpgrade, error) {
	spec.ApprovedPlan = hash
	made := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	err := o.Create(ctx, made)
	if apierrors.IsForbidden(err) && spec.Approval != refitv1alpha1.ApprovalNone {
		spec.ApprovedPlan = ""
		made = &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
		if o.Create(ctx, made) == nil {
			fmt.Fprintf(o.app.err, "You may not approve plans: %s waits for `%s approve %s --plan %s` by somebody who may.\n", name, o.app.name, name, hash)
			return made, nil
		}
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("the operation cannot be made: %w", err)
	}
	return made, err
}
