package components

import (
	"log/slog"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/steps"
)

const name = "queue"

// frozen is a component that is frozen during a wave.
func frozen(permit refitv1alpha1.Permit) *refitv1alpha1.ComponentUpgrade {
	operation := refitv1alpha1.Operation{Name: "up", UID: "1"}
	u := &refitv1alpha1.ComponentUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "2"},
		Spec: refitv1alpha1.ComponentUpgradeSpec{
			Operation: operation, Sequence: 3, Epoch: 1, Version: "2.0.0", Action: refitv1alpha1.ActionUpgrade, Permit: permit,
		},
		Status: refitv1alpha1.ComponentUpgradeStatus{
			ObservedSequence: 3, Journal: 3, Phase: refitv1alpha1.ComponentApplying, Saved: "refit-saved-queue-3", Step: "wave-all",
			Order:  &refitv1alpha1.ComponentOrder{Operation: operation, Epoch: 1, Version: "2.0.0", Action: refitv1alpha1.ActionUpgrade},
			Frozen: &refitv1alpha1.FrozenStatus{Since: metav1.NewTime(time.Now().Truncate(time.Second)), Limit: metav1.Duration{Duration: time.Hour}},
		},
	}
	for _, step := range []string{"check", "save", "freeze", "keep-crds", "adopt", "crds"} {
		u.Status.Steps = append(u.Status.Steps, refitv1alpha1.StepStatus{Name: step, State: refitv1alpha1.StepDone})
	}
	u.Status.Steps = append(u.Status.Steps, refitv1alpha1.StepStatus{Name: "wave-all", State: refitv1alpha1.StepRunning})
	return u
}

// newWorld returns a runner, and a client of a cluster that has the policy of the freeze.
func newWorld(t *testing.T, u *refitv1alpha1.ComponentUpgrade) (*Runner, client.Client) {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "refit-freeze-" + name, Labels: map[string]string{"refit.dev/freeze": name}},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(u, policy).WithStatusSubresource(u).Build()
	return &Runner{client: c, source: &source{reader: c}, log: slog.New(slog.DiscardHandler), now: time.Now}, c
}

func freezes(t *testing.T, c client.Client) []string {
	t.Helper()
	found, err := steps.FreezerOf(c, "me").Frozen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAFreezeIsLiftedIfTheSavedContentIsDeleted(t *testing.T) {
	for _, permit := range []refitv1alpha1.Permit{refitv1alpha1.PermitApply, refitv1alpha1.PermitHold, refitv1alpha1.PermitRollback} {
		t.Run(string(permit), func(t *testing.T) {
			r, c := newWorld(t, frozen(permit))
			if err := r.Run(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			var u refitv1alpha1.ComponentUpgrade
			if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &u); err != nil {
				t.Fatal(err)
			}
			if found := freezes(t, c); len(found) > 0 || u.Status.Frozen != nil {
				t.Errorf("%v is frozen, the status is %+v", found, u.Status)
			}
			for _, step := range u.Status.Steps {
				if step.Name == "freeze" {
					t.Error("the upgrade would continue without a freeze")
				}
			}
			if failed := u.Status.Phase == refitv1alpha1.ComponentFailed; failed != (permit != refitv1alpha1.PermitHold) {
				t.Errorf("the phase is %s: %+v", u.Status.Phase, u.Status.Error)
			}
		})
	}
}

func TestAFreezeOfADeletedJournalIsLifted(t *testing.T) {
	recreated := frozen(refitv1alpha1.PermitApply) // by the controller
	recreated.Status = refitv1alpha1.ComponentUpgradeStatus{}
	r, c := newWorld(t, recreated)
	if err := r.Run(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if found := freezes(t, c); len(found) > 0 {
		t.Errorf("%v is frozen", found)
	}
}

func TestARollbackWithoutContentOfWhatWasNotChanged(t *testing.T) {
	u := frozen(refitv1alpha1.PermitRollback)
	u.Status.Frozen, u.Status.Saved, u.Status.Phase = nil, "", refitv1alpha1.ComponentFailed
	u.Status.Steps = []refitv1alpha1.StepStatus{{Name: "check", State: refitv1alpha1.StepFailed}}
	u.Status.Error = &refitv1alpha1.NodeError{Reason: "ChartMissing"}
	r, c := newWorld(t, u)
	if err := r.Run(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, u); err != nil || u.Status.Phase != refitv1alpha1.ComponentRolledBack {
		t.Errorf("%v: the phase is %s", err, u.Status.Phase)
	}
}

func TestAnotherOrderEndsTheWaitOfAStep(t *testing.T) {
	for _, permit := range []refitv1alpha1.Permit{refitv1alpha1.PermitApply, refitv1alpha1.PermitHold, refitv1alpha1.PermitRollback} {
		t.Run(string(permit), func(t *testing.T) {
			t.Parallel()
			r, c := newWorld(t, frozen(refitv1alpha1.PermitApply))
			j, err := readJournal(t.Context(), c, name, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			permitted, stop := r.whilePermitted(t.Context(), j)
			defer stop()
			if permitted.Err() != nil {
				t.Fatal("the wait ends at once")
			}
			ordered := j.object.DeepCopy()
			ordered.Spec.Permit = permit
			ordered.Spec.Sequence++
			if err := c.Update(t.Context(), ordered); err != nil {
				t.Fatal(err)
			}
			select {
			case <-permitted.Done():
			case <-time.After(2 * permitInterval):
			}
			if ended := permitted.Err() != nil; ended != (permit != refitv1alpha1.PermitApply) {
				t.Errorf("the wait has ended: %t", ended)
			}
			if j, err = readJournal(t.Context(), c, name, time.Now); err != nil {
				t.Fatal(err)
			}
			again, stopAgain := r.whilePermitted(t.Context(), j) // after a restart
			defer stopAgain()
			if ended := again.Err() != nil; ended != (permit != refitv1alpha1.PermitApply) {
				t.Errorf("the wait of the repeated step has ended: %t", ended)
			}
		})
	}
}
