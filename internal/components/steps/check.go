package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// pendingInterval is how often a check is repeated that waits.
const pendingInterval = 5 * time.Second

// check requires the permission of the ClusterUpgrade, and computes the offer again. The upgrade
// does not start if something speaks against it or if it is not what was approved. It waits for
// what others can end: a pause, or another Helm action.
func check(ctx context.Context, r *Run, _ component.Step) error {
	return r.await(ctx, r.waitApproved)
}

func (r *Run) waitApproved(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pendingInterval, true, func(ctx context.Context) (bool, error) {
		err := r.permitted(ctx)
		if err == nil {
			_, _, err = r.approved(ctx)
		}
		if err == nil || !waits(err) {
			return true, err
		}
		last = err
		r.Waiting(err.Error())
		return false, nil
	})
	if err != nil && last != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return last
	}
	return err
}

// waits reports whether somebody else can end the cause of an error.
func waits(err error) bool {
	if b, ok := errors.AsType[*blockedError](err); ok {
		return b.problem.Reason == "ComponentPending"
	}
	u, ok := errors.AsType[*unpermittedError](err)
	return ok && u.failure.Class == refitv1alpha1.FailureTransient
}

// unpermittedError is an order that may not start.
type unpermittedError struct{ failure component.Failure }

func (u *unpermittedError) Error() string { return u.failure.Message }

// operation reads the ClusterUpgrade of the order, which users write and the controller does not.
// It is nil if it does not exist any more.
func (r *Run) operation(ctx context.Context) (*refitv1alpha1.ClusterUpgrade, error) {
	live := &refitv1alpha1.ClusterUpgrade{}
	err := r.client.Get(ctx, client.ObjectKey{Name: r.order().Operation.Name}, live)
	switch {
	case apierrors.IsNotFound(err) || err == nil && live.UID != r.order().Operation.UID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot get ClusterUpgrade %s: %w", r.order().Operation.Name, err)
	}
	return live, nil
}

// permitted requires the permission of the ClusterUpgrade.
func (r *Run) permitted(ctx context.Context) error {
	live, err := r.operation(ctx)
	if err != nil {
		return err
	}
	if failure := component.Permission(r.order().Operation, live); failure != nil {
		return &unpermittedError{*failure}
	}
	return nil
}

// blockedError is a problem that blocks the order.
type blockedError struct{ problem offer.Problem }

func (b *blockedError) Error() string { return b.problem.Message }

// approved computes the offer, and fails if it is not what was approved.
func (r *Run) approved(ctx context.Context) (*offer.Offer, offer.Input, error) {
	in, err := r.input(ctx)
	if errors.Is(err, offer.ErrValuesMissing) {
		return nil, in, &blockedError{offer.NewProblem("ValuesMissing", "%v", err)}
	}
	if err != nil {
		return nil, in, err
	}
	if in.Action == component.Install && in.Deployed != nil {
		return nil, in, manual(refitv1alpha1.ReasonPlanChanged, nil, "Run `refit plan` again", "the component is installed already, by %s", in.Owner)
	}
	if in.Action != component.Install && in.Deployed == nil {
		return nil, in, manual(refitv1alpha1.ReasonPlanChanged, nil, "Run `refit plan` again", "the component is not installed any more")
	}
	found, err := offer.Compute(ctx, offer.Cluster{Reader: r.client, CRDs: r.crds}, in)
	if err != nil {
		return nil, in, err
	}
	live, err := r.operation(ctx)
	if err != nil {
		return nil, in, err
	}
	if problem := r.blocking(found, live); problem != nil {
		return nil, in, &blockedError{*problem}
	}
	if found.Digest != r.order().Digest {
		return nil, in, manual(refitv1alpha1.ReasonPlanChanged, nil, "Run `refit plan` again and approve it",
			"the upgrade would change something else than what was approved (%s instead of %s)", short(found.Digest), short(r.order().Digest))
	}
	return found, in, nil
}

// blocking returns the first problem that blocks and that the user has not waived, or nil.
func (r *Run) blocking(found *offer.Offer, live *refitv1alpha1.ClusterUpgrade) *offer.Problem {
	waived := func(check, object string) bool { return live != nil && policy.Waived(&live.Spec, check, object) }
	for i := range found.Problems {
		if problem := &found.Problems[i]; componentplan.Blocks(r.name(), problem, waived) {
			return problem
		}
	}
	return nil
}

func short(digest string) string { return digest[:min(len(digest), 19)] }

// save saves what the later steps and a rollback need: the signed content, the values, the CRDs,
// and the revision of the Helm release.
func save(ctx context.Context, r *Run, _ component.Step) error {
	// A pending action is not of this journal, which has not changed anything yet: its own was
	// deleted or abandoned.
	if mark, unlocked, err := r.helm().Unlock(ctx); err != nil {
		return err
	} else if unlocked {
		r.Log.WarnContext(ctx, "Unlocked the Helm release after an abandoned action", "component", r.name(), "action", mark.String())
	}
	found, in, err := r.approved(ctx)
	if err != nil {
		return err
	}
	s := &saved{
		Component: r.Component, From: in.From, Values: found.Upgrade.Values, Hidden: in.Secret, Capabilities: in.Capabilities,
		Deletions: found.Upgrade.Deletions, Created: found.Created,
	}
	if s.Existed, err = r.helm().Existed(ctx, found.Created); err != nil {
		return err
	}
	var names []string
	for _, definition := range found.Definitions {
		names = append(names, definition.Name)
	}
	if d := in.Deployed; d != nil {
		_, ours := d.Mark()
		newest, err := r.helm().Newest(ctx)
		if err != nil {
			return err
		}
		s.Revision, s.Adopt = d.Revision, !ours || len(d.CRDs) > 0 || newest.Revision != d.Revision || d.Status != "deployed"
		for _, object := range d.CRDs {
			names = append(names, object.Name)
		}
	}
	if s.crds, err = r.crds.Save(ctx, names...); err != nil {
		return err
	}
	if err := s.write(ctx, r.client, r.Owner); err != nil {
		return err
	}
	r.saved = s
	return deleteFormer(ctx, r.client, r.Owner)
}

// freeze denies changes that would race with the upgrade. The journal has the freeze before it
// exists, so that whoever reads the journal lifts it.
func freeze(ctx context.Context, r *Run, step component.Step) error {
	if r.Owner.Spec.Thaw { // the freeze of this order lasted too long already
		return manual(component.ReasonFreezeLimit, nil, "Find out which step took so long, then run `refit retry`", "the controller has lifted the freeze")
	}
	if err := r.Freeze(ctx, step.Recipe.Freeze.Limit.Duration); err != nil {
		return err
	}
	return r.freezer().Freeze(ctx, r.name(), *step.Recipe.Freeze)
}

// keepCRDs annotates CRDs so that Helm never deletes them.
func keepCRDs(ctx context.Context, r *Run, _ component.Step) error {
	found, err := r.rendered(ctx)
	if err != nil {
		return err
	}
	_, err = r.helm().KeepCRDs(ctx, found.Upgrade.Rendering)
	return err
}

// adopt writes a revision without CRDs, unless the deployed one is such a revision of Refit. An
// installation needs its namespace instead.
func adopt(ctx context.Context, r *Run, step component.Step) error {
	if r.installs() {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.release().Namespace}}
		err := r.client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot get the namespace %s: %w", namespace.Name, err)
		}
		if err != nil {
			err = r.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.release().Namespace}}, client.FieldOwner(Manager))
		}
		return err
	}
	if !r.saved.Adopt {
		return nil
	}
	revision, err := r.helm().Adopt(ctx, r.mark(step.Name))
	if err != nil {
		return err
	}
	r.saved.Revision = revision
	return r.saved.write(ctx, r.client, r.Owner)
}
