package components

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// ensureForm creates the empty Secret for the answers if a ClusterRelease has a form: whoever fills
// it in may change this Secret, and create none.
func (r *Reconciler) ensureForm(ctx context.Context, all releases) error {
	if !slices.ContainsFunc(all.verified, func(v verified) bool { return v.form != nil }) {
		return nil
	}
	var secret corev1.Secret
	err := r.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: form.SecretName}, &secret)
	if apierrors.IsNotFound(err) {
		secret = corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: form.SecretName, Labels: map[string]string{form.OwnerLabel: form.Owner},
		}}
		err = r.client.Create(ctx, &secret, client.FieldOwner(steps.Manager))
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create the Secret %s/%s for the form of a ClusterRelease: %w", Namespace, form.SecretName, err)
	}
	return nil
}

// formProblems returns what the form of a ClusterRelease requires of a component. Answers that
// cannot be read count as none: `refit serve` reports them.
func (r *Reconciler) formProblems(ctx context.Context, v *view, release verified) ([]offer.Problem, error) {
	if release.form == nil {
		return nil, nil
	}
	if v.answers == nil {
		var secret corev1.Secret
		err := r.client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: form.SecretName}, &secret)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("cannot read the answers to the form of a ClusterRelease: %w", err)
		}
		stored, err := form.Decode(secret.Data[form.AnswersKey])
		if err != nil {
			stored = form.Stored{}
		}
		v.answers = &stored
	}
	return offer.FormProblems(ctx, release.ref.Name, release.form, *v.answers, v.component.Name, v.user)
}

// withValuesFrom returns the components whose values come from a Secret.
func (r *Reconciler) withValuesFrom(ctx context.Context, secret string) map[string]bool {
	var list refitv1alpha1.ComponentList
	if err := r.client.List(ctx, &list); err != nil {
		r.log.WarnContext(ctx, "Cannot list Components", "error", err)
		return nil
	}
	names := map[string]bool{}
	for i := range list.Items {
		if slices.ContainsFunc(list.Items[i].Spec.ValuesFrom, func(s refitv1alpha1.ValuesSource) bool { return s.Secret == secret }) {
			names[list.Items[i].Name] = true
		}
	}
	return names
}
