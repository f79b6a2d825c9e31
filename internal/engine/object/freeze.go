package object

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// probeInterval is how often the API server is probed until it applies or no longer applies a
// policy, which takes it less than a second.
const probeInterval = 100 * time.Millisecond

// Freezer freezes and thaws resources.
type Freezer struct {
	// Client writes admission policies.
	Client client.Client
	// Username is who the client is for the API server. Its own writes are not denied.
	Username string
	// Namespace is where the freeze is probed.
	Namespace string
	// Manager is the field manager of the policies.
	Manager string
}

// Freeze denies requests as a recipe demands, and returns once the API server denies them. It can
// be repeated. The caller bounds it with the context.
func (f *Freezer) Freeze(ctx context.Context, component string, freeze refitv1alpha1.RecipeFreeze) error {
	return f.freeze(ctx, name(component), component, freeze)
}

// Guard is a freeze beside that of the recipe. Thaw lifts both, and Unguard this one only.
func (f *Freezer) Guard(ctx context.Context, component string, freeze refitv1alpha1.RecipeFreeze) error {
	return f.freeze(ctx, guardName(component), component, freeze)
}

func (f *Freezer) freeze(ctx context.Context, name, component string, freeze refitv1alpha1.RecipeFreeze) error {
	policy, probe := policyOf(name, component, f.Username, f.Namespace, freeze)
	for _, object := range []client.Object{policy, bindingOf(name, component)} {
		if err := f.apply(ctx, object); err != nil {
			return fmt.Errorf("cannot freeze %s: %w", component, err)
		}
	}
	if err := f.until(ctx, name, probe, true); err != nil {
		return fmt.Errorf("cannot freeze %s: the API server does not apply the policy %s: %w", component, name, err)
	}
	return nil
}

// apply writes an object, whatever an earlier try left.
func (f *Freezer) apply(ctx context.Context, object client.Object) error {
	err := f.Client.Create(ctx, object, client.FieldOwner(f.Manager))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	live, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return errors.New("the object cannot be copied")
	}
	if err := f.Client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return err
	}
	if live.GetLabels()[refitv1alpha1.LabelFreeze] != object.GetLabels()[refitv1alpha1.LabelFreeze] {
		return fmt.Errorf("%s exists and was not created by Refit", object.GetName())
	}
	object.SetResourceVersion(live.GetResourceVersion())
	return f.Client.Update(ctx, object, client.FieldOwner(f.Manager))
}

// Thaw lifts the freezes of a component, and returns once the API server no longer denies anything.
// It succeeds if there is no freeze.
func (f *Freezer) Thaw(ctx context.Context, component string) error {
	if err := f.Unguard(ctx, component); err != nil {
		return err
	}
	return f.thaw(ctx, name(component), component)
}

// Unguard lifts the freeze of Guard.
func (f *Freezer) Unguard(ctx context.Context, component string) error {
	return f.thaw(ctx, guardName(component), component)
}

func (f *Freezer) thaw(ctx context.Context, name, component string) error {
	for _, object := range []client.Object{
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}},
	} {
		if err := f.delete(ctx, component, object); err != nil {
			return fmt.Errorf("cannot lift the freeze of %s: %w", component, err)
		}
	}
	if err := f.until(ctx, name, name, false); err != nil {
		return fmt.Errorf("cannot lift the freeze of %s: the API server still applies the policy %s: %w", component, name, err)
	}
	return nil
}

// delete deletes an object of a freeze, unless somebody else created it.
func (f *Freezer) delete(ctx context.Context, component string, object client.Object) error {
	err := f.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
	if err == nil && object.GetLabels()[refitv1alpha1.LabelFreeze] == component {
		uid := object.GetUID()
		err = f.Client.Delete(ctx, object, client.Preconditions{UID: &uid})
	}
	return client.IgnoreNotFound(err)
}

// Frozen returns the components that are frozen, or whose freeze was not completely lifted.
func (f *Freezer) Frozen(ctx context.Context) (components []string, err error) {
	var policies admissionregistrationv1.ValidatingAdmissionPolicyList
	if err := f.Client.List(ctx, &policies, client.HasLabels{refitv1alpha1.LabelFreeze}); err != nil {
		return nil, fmt.Errorf("cannot list the freezes: %w", err)
	}
	for i := range policies.Items {
		components = append(components, policies.Items[i].Labels[refitv1alpha1.LabelFreeze])
	}
	var bindings admissionregistrationv1.ValidatingAdmissionPolicyBindingList
	if err := f.Client.List(ctx, &bindings, client.HasLabels{refitv1alpha1.LabelFreeze}); err != nil {
		return nil, fmt.Errorf("cannot list the freezes: %w", err)
	}
	for i := range bindings.Items {
		components = append(components, bindings.Items[i].Labels[refitv1alpha1.LabelFreeze])
	}
	slices.Sort(components)
	return slices.Compact(components), nil
}

// until probes the API server until it denies a ConfigMap, or no longer does.
func (f *Freezer) until(ctx context.Context, name, probe string, denied bool) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, probeInterval, true, func(ctx context.Context) (bool, error) {
		err := f.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: probe, Namespace: f.Namespace}}, client.DryRunAll)
		isDenied := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "'"+name+"'")
		last = err
		// A ConfigMap of that name may exist; policies are applied first.
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		return isDenied == denied, nil // a policy of somebody else may deny the probe, too
	})
	if err != nil {
		return errors.Join(last, err)
	}
	return nil
}
