//go:build apiserver

package object

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/test/apiserver"
)

const refitUser = "system:serviceaccount:refit-system:refit-components"

// leases stand for the objects of a component.
func leases(operations ...string) refitv1alpha1.RecipeFreeze {
	return refitv1alpha1.RecipeFreeze{
		Limit:  metav1.Duration{Duration: time.Minute},
		Deny:   refitv1alpha1.RecipeDeny{Operations: operations, Resources: []string{"leases.coordination.k8s.io"}},
		Except: refitv1alpha1.RecipeExcept{ServiceAccountsIn: []string{"liqo"}},
	}
}

type world struct {
	t       *testing.T
	server  *apiserver.Server
	freezer *object.Freezer
}

var installed sync.Once

func newWorld(t *testing.T) *world {
	t.Helper()
	s := apiserver.Shared(t, apiserver.Options{})
	installed.Do(func() { s.Install(t, "../../../config/crd") })
	w := &world{t: t, server: s}
	w.freezer = &object.Freezer{Client: w.as(refitUser), Username: refitUser, Namespace: "default", Manager: "refit-components"}
	return w
}

func (w *world) as(user string) client.Client {
	w.t.Helper()
	return w.client(w.server.As(w.t, user, "system:masters"))
}

func (w *world) client(config *rest.Config) client.Client {
	w.t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), refitv1alpha1.AddToScheme(scheme)); err != nil {
		w.t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) context() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	w.t.Cleanup(cancel)
	return ctx
}

func (w *world) freeze(component string, freeze refitv1alpha1.RecipeFreeze) {
	w.t.Helper()
	w.order(component)
	if err := w.freezer.Freeze(w.context(), component, freeze); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.freezer.Thaw(context.WithoutCancel(w.t.Context()), component) })
}

// order creates the ComponentUpgrade of a component, during which it may be frozen.
func (w *world) order(component string) *refitv1alpha1.ComponentUpgrade {
	w.t.Helper()
	digest := "sha256:" + strings.Repeat("0", 64)
	u := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: component}, Spec: refitv1alpha1.ComponentUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: "upgrade", UID: "00000000-0000-0000-0000-000000000000"}, Sequence: 1, Epoch: 1, Action: refitv1alpha1.ActionUpgrade,
		Version: "v1.2.0", Kubernetes: "v1.36.3", Digest: digest, Permit: refitv1alpha1.PermitApply, Release: refitv1alpha1.ReleaseRef{Name: "release", Digest: digest},
	}}
	admin := w.as("admin")
	err := admin.Create(w.context(), u)
	if apierrors.IsAlreadyExists(err) {
		err = admin.Get(w.context(), client.ObjectKeyFromObject(u), u)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = client.IgnoreNotFound(admin.Delete(context.WithoutCancel(w.t.Context()), u)) })
	return u
}

// A freeze ends with its ComponentUpgrade, or once the order lifts it.
func TestFreezesThatNobodyThaws(t *testing.T) {
	for situation, end := range map[string]func(*world, *refitv1alpha1.ComponentUpgrade) error{
		"the order lifts it": func(w *world, u *refitv1alpha1.ComponentUpgrade) error {
			u.Spec.Thaw, u.Spec.Sequence = true, u.Spec.Sequence+1
			return w.as("admin").Update(w.context(), u)
		},
		"the order is deleted": func(w *world, u *refitv1alpha1.ComponentUpgrade) error { return w.as("admin").Delete(w.context(), u) },
	} {
		t.Run(situation, func(t *testing.T) {
			w := newWorld(t)
			w.freeze("abandoned", leases("CREATE"))
			if err := w.creates("alice", "before"); !apierrors.IsForbidden(err) {
				t.Fatalf("a user creates an object: %v", err)
			}
			if err := end(w, w.order("abandoned")); err != nil {
				t.Fatal(err)
			}
			err := wait.PollUntilContextCancel(w.context(), 100*time.Millisecond, true, func(context.Context) (bool, error) {
				return w.creates("alice", "after-"+strings.ReplaceAll(situation, " ", "-")) == nil, nil
			})
			if err != nil {
				t.Errorf("it is frozen: %v", err)
			}
		})
	}
}

// A guard is lifted alone, and with the freeze of the recipe.
func TestAGuardBesideAFreeze(t *testing.T) {
	w := newWorld(t)
	w.freeze("guarded", leases("DELETE"))
	guard := func() {
		t.Helper()
		if err := w.freezer.Guard(w.context(), "guarded", leases("CREATE")); err != nil {
			t.Fatal(err)
		}
		if err := w.creates("alice", "guarded"); !apierrors.IsForbidden(err) {
			t.Errorf("a user creates an object: %v", err)
		}
	}
	guard()
	if err := w.freezer.Unguard(w.context(), "guarded"); err != nil {
		t.Fatal(err)
	}
	if err := w.creates("alice", "guarded"); err != nil {
		t.Errorf("after the guard: %v", err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "guarded", Namespace: "default"}}
	if err := w.as("alice").Delete(w.context(), lease); !apierrors.IsForbidden(err) {
		t.Errorf("the freeze of the recipe was lifted, too: %v", err)
	}
	guard()
	w.thaw("guarded")
	if err := w.as("alice").Delete(w.context(), lease); err != nil {
		t.Errorf("after the freeze: %v", err)
	}
	if frozen, err := w.freezer.Frozen(w.context()); err != nil || slices.Contains(frozen, "guarded") {
		t.Errorf("frozen: %q, %v", frozen, err)
	}
}

func (w *world) thaw(component string) {
	w.t.Helper()
	if err := w.freezer.Thaw(w.context(), component); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) creates(user, name string) error {
	return w.as(user).Create(w.context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}})
}

func TestFreezeHoldsAndThaws(t *testing.T) {
	w := newWorld(t)
	w.freeze("liqo", leases("CREATE"))

	err := w.creates("alice", "frozen")
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "component liqo is being upgraded: CREATE of this resource is denied until it ends") {
		t.Fatalf("a user creates an object: %v", err)
	}
	for _, user := range []string{refitUser, "system:serviceaccount:liqo:controller", "system:serviceaccount:kube-system:generic-garbage-collector"} {
		if err := w.creates(user, "by-"+user[strings.LastIndex(user, ":")+1:]); err != nil {
			t.Errorf("%s cannot create an object: %v", user, err)
		}
	}
	// Users of another namespace with the same prefix are denied.
	if err := w.creates("system:serviceaccount:liqo-evil:controller", "evil"); !apierrors.IsForbidden(err) {
		t.Errorf("a ServiceAccount of another namespace creates an object: %v", err)
	}
	// Other operations are not denied.
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "by-controller", Namespace: "default"}}
	if err := w.as("alice").Delete(w.context(), lease); err != nil {
		t.Errorf("a user cannot delete an object: %v", err)
	}
	if frozen, err := w.freezer.Frozen(w.context()); err != nil || !slices.Equal(frozen, []string{"liqo"}) {
		t.Errorf("frozen: %v, %v", frozen, err)
	}

	w.thaw("liqo")
	if err := w.creates("alice", "thawed"); err != nil {
		t.Errorf("a user cannot create an object after the thaw: %v", err)
	}
	if frozen, err := w.freezer.Frozen(w.context()); err != nil || len(frozen) > 0 {
		t.Errorf("still frozen: %v, %v", frozen, err)
	}
}

func TestFreezeAndThawCanBeRepeated(t *testing.T) {
	w := newWorld(t)
	w.thaw("twice") // nothing is frozen
	w.freeze("twice", leases("CREATE"))
	w.freeze("twice", leases("CREATE", "DELETE")) // the recipe of another version
	if err := w.creates(refitUser, "twice"); err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "twice", Namespace: "default"}}
	if err := w.as("alice").Delete(w.context(), lease); !apierrors.IsForbidden(err) {
		t.Errorf("a user deletes an object: %v", err)
	}
	w.thaw("twice")
	w.thaw("twice")
}

func TestFreezesOfTwoComponents(t *testing.T) {
	w := newWorld(t)
	w.freeze("one", leases("CREATE"))
	w.freeze("one-more", leases("CREATE"))
	w.thaw("one")
	if err := w.creates("alice", "still"); !apierrors.IsForbidden(err) {
		t.Errorf("the freeze of the other component is lifted: %v", err)
	}
	w.thaw("one-more")
}

// A dry run of a ConfigMap that exists returns another error than that of one that is denied.
func TestAProbeThatExists(t *testing.T) {
	w := newWorld(t)
	w.freeze("probed", leases("CREATE"))
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "refit-freeze-probed", Namespace: "default"}}
	w.thaw("probed")
	if err := w.freezer.Client.Create(w.context(), probe); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.freezer.Client.Delete(context.WithoutCancel(t.Context()), probe) })
	w.freeze("probed", leases("CREATE"))
	w.thaw("probed")
}

// Somebody may delete the policy, and not its binding.
func TestABindingThatIsLeft(t *testing.T) {
	w := newWorld(t)
	w.freeze("left", leases("CREATE"))
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "refit-freeze-left"}}
	if err := w.freezer.Client.Delete(w.context(), policy); err != nil {
		t.Fatal(err)
	}
	if frozen, err := w.freezer.Frozen(w.context()); err != nil || !slices.Contains(frozen, "left") {
		t.Errorf("Frozen() = %v, %v", frozen, err)
	}
	w.thaw("left")
	if frozen, err := w.freezer.Frozen(w.context()); err != nil || slices.Contains(frozen, "left") {
		t.Errorf("Frozen() = %v, %v", frozen, err)
	}
}

// A cluster may have a policy of its own that denies the probe.
func TestAPolicyOfOthersDeniesTheProbe(t *testing.T) {
	w := newWorld(t)
	foreign := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "foreign"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Reason: new(metav1.StatusReasonForbidden)}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "foreign"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "foreign", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	for _, o := range []client.Object{foreign, binding} {
		if err := w.freezer.Client.Create(w.context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.freezer.Client.Delete(context.WithoutCancel(t.Context()), o) })
	}
	probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: "default"}}
	inForce := func(ctx context.Context) (bool, error) {
		return apierrors.IsForbidden(w.freezer.Client.Create(ctx, probe.DeepCopy(), client.DryRunAll)), nil
	}
	if err := wait.PollUntilContextCancel(w.context(), 100*time.Millisecond, true, inForce); err != nil {
		t.Fatal(err)
	}
	w.thaw("foreign")
}
