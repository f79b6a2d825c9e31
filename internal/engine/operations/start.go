package operations

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Start creates an operation with an approved plan and returns it, or the one in progress for the
// same request. Two users who start the same upgrade at the same moment choose the same name: the
// second one gets the operation of the first. The first preferred name that is not empty is used.
//
// A user without permission to approve plans gets an operation that waits for approval.
func (c *Cluster) Start(
	ctx context.Context, spec refitv1alpha1.ClusterUpgradeSpec, hash string, preferred ...string,
) (started *refitv1alpha1.ClusterUpgrade, unapproved bool, err error) {
	for {
		existing, err := c.List(ctx)
		if err != nil {
			return nil, false, err
		}
		if same := request.InProgress(existing, spec); same != nil {
			return same, false, nil
		}
		name, err := request.Name(spec.Target, existing, preferred...)
		if err != nil {
			return nil, false, err
		}
		started, unapproved, err = c.create(ctx, metav1.ObjectMeta{Name: name}, spec, hash)
		if !apierrors.IsAlreadyExists(err) {
			return started, unapproved, err
		}
	}
}

// create creates an operation, without approval if the user may not approve plans.
func (c *Cluster) create(
	ctx context.Context, as metav1.ObjectMeta, spec refitv1alpha1.ClusterUpgradeSpec, hash string,
) (created *refitv1alpha1.ClusterUpgrade, unapproved bool, err error) {
	spec.ApprovedPlan = hash
	created = &refitv1alpha1.ClusterUpgrade{ObjectMeta: as, Spec: spec}
	err = c.Client.Create(ctx, created)
	if apierrors.IsForbidden(err) && spec.Approval != refitv1alpha1.ApprovalNone {
		spec.ApprovedPlan = ""
		waiting := &refitv1alpha1.ClusterUpgrade{ObjectMeta: as, Spec: spec}
		if c.Client.Create(ctx, waiting) == nil {
			return waiting, true, nil
		}
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, false, fmt.Errorf("cannot create the operation: %w", err)
	}
	return created, false, err
}
