//go:build apiserver

package components

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

func TestAFailedVerificationRollsBack(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	before := m.state()
	offer := m.offer()
	m.foreignPod()
	m.limitVerify()
	m.order(offer)
	u := m.ended(refitv1alpha1.ComponentRolledBack)
	if u.Status.Error == nil || u.Status.Error.Reason != "OtherImage" || u.Status.Error.Step != "verify" || u.Status.Frozen != nil {
		t.Errorf("the status is %+v, the error %+v", u.Status, u.Status.Error)
	}
	after := m.state()
	for _, want := range []string{"Helm deployed 1.0.0", "NAME-only-1", "color: red", "[v1]"} {
		if !strings.Contains(after, want) {
			t.Errorf("%q is missing after the rollback:\n%s\nbefore:\n%s", want, after, before)
		}
	}
	if strings.Contains(after, "only-2") || strings.Contains(after, "v2 ") {
		t.Errorf("something of the new version is left:\n%s", after)
	}
}

// TestARollbackKeepsWhatExistedBefore: somebody has created an object with the marks of the Helm
// release, and waived that it exists. For Helm, the upgrade has created it.
func TestARollbackKeepsWhatExistedBefore(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	existing := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: m.name, Name: m.name + "-only-2", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"meta.helm.sh/release-name": m.name, "meta.helm.sh/release-namespace": m.name},
	}}
	must(t, m.client.Create(t.Context(), existing))
	offer := m.offer()
	if got := blocked(offer); got != "ObjectExists" {
		t.Fatalf("%q blocks: %+v", got, offer)
	}
	m.foreignPod()
	m.limitVerify()
	m.order(offer)
	m.waive("ComponentProblem")
	u := m.ended(refitv1alpha1.ComponentRolledBack)
	var after corev1.ConfigMap
	must(t, m.client.Get(t.Context(), client.ObjectKeyFromObject(existing), &after))
	if after.UID != existing.UID || after.DeletionTimestamp != nil {
		t.Errorf("the object was deleted: %+v", after.ObjectMeta)
	}
	if left := strings.Join(u.Status.Left, " "); !strings.Contains(left, existing.Name+" existed before") {
		t.Errorf("left: %q", left)
	}
}

// waive waives a check in the ClusterUpgrade.
func (m *made) waive(check string) {
	m.t.Helper()
	var operation refitv1alpha1.ClusterUpgrade
	must(m.t, m.client.Get(m.t.Context(), client.ObjectKey{Name: m.name}, &operation))
	operation.Spec.Waivers = []refitv1alpha1.Waiver{{Check: check, Reason: "it is known"}}
	must(m.t, m.client.Update(m.t.Context(), &operation))
}

// A hold ends the wait for objects that do not become ready. The upgrade continues later, or is
// rolled back.
func TestHoldDuringAnUpgrade(t *testing.T) {
	t.Parallel()
	for next, ends := range map[refitv1alpha1.Permit]refitv1alpha1.ComponentPhase{
		refitv1alpha1.PermitApply: refitv1alpha1.ComponentSucceeded, refitv1alpha1.PermitRollback: refitv1alpha1.ComponentRolledBack,
	} {
		t.Run(string(next), func(t *testing.T) {
			t.Parallel()
			holdThen(t, next, ends)
		})
	}
}

func holdThen(t *testing.T, next refitv1alpha1.Permit, ends refitv1alpha1.ComponentPhase) {
	t.Helper()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.Values = map[string]any{"ready": false} })
	m.installOld()
	before := m.state()
	m.order(m.offer())
	done := make(chan error, 1)
	go func() { done <- m.runIn(t.Context(), m.config) }()
	m.eventually("the last wave waits", func() error {
		if u := m.upgrade(); u.Status.Step != "wave-rest" || u.Status.Waiting == "" {
			return errNotYet
		}
		return nil
	})
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Permit = refitv1alpha1.PermitHold })
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the hold waits until the objects are ready")
	}
	u := m.upgrade()
	if u.Status.Phase != refitv1alpha1.ComponentApplying || u.Status.Frozen != nil || u.Status.Step != "" || u.Status.ObservedSequence != u.Spec.Sequence ||
		u.Status.Error != nil {
		t.Errorf("the status is %+v", u.Status)
	}
	if strings.Contains(m.state(), "frozen") {
		t.Error("the component waits while it is frozen")
	}
	m.makeAllReady()
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Permit = next })
	m.ended(ends)
	if after := m.state(); ends == refitv1alpha1.ComponentRolledBack && strings.Contains(after, "only-2") {
		t.Errorf("something of the new version is left:\n%s\nbefore:\n%s", after, before)
	}
}

func TestValuesOfTheUserAreKept(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.UserMay = []string{"greeting"} })
	m.installOld()
	m.component()
	m.spec(func(s *refitv1alpha1.ComponentSpec) {
		s.Values = &runtime.RawExtension{Raw: []byte(`{"greeting":"moin"}`)}
		s.ValuesFrom = []refitv1alpha1.ValuesSource{{Secret: m.name}}
	})
	if got := blocked(m.offer()); got != "ValuesMissing" {
		t.Errorf("without the Secret: %q", got)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: components.Namespace, Name: m.name}, StringData: map[string]string{"values.yaml": "replicas: 3\n"}}
	must(t, m.client.Create(t.Context(), secret))
	if got := blocked(m.offer()); got != "ValuesForbidden" {
		t.Errorf("with a forbidden value: %q", got)
	}
	secret.StringData = map[string]string{"values.yaml": "greeting: salut\n"}
	must(t, m.client.Update(t.Context(), secret))
	m.order(m.offer())
	m.ended(refitv1alpha1.ComponentSucceeded)
	var settings corev1.ConfigMap
	must(t, m.client.Get(t.Context(), client.ObjectKey{Namespace: m.name, Name: m.name + "-settings"}, &settings))
	if settings.Data["greeting"] != "salut" {
		t.Errorf("the settings are %v", settings.Data)
	}
}

func (m *made) spec(change func(*refitv1alpha1.ComponentSpec)) {
	m.t.Helper()
	var c refitv1alpha1.Component
	must(m.t, m.client.Get(m.t.Context(), client.ObjectKey{Name: m.name}, &c))
	change(&c.Spec)
	must(m.t, m.client.Update(m.t.Context(), &c))
}

func TestValuesThatChangeAfterTheOrder(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	before := m.state()
	m.order(m.offer())
	m.spec(func(s *refitv1alpha1.ComponentSpec) {
		s.Values = &runtime.RawExtension{Raw: []byte(`{"greeting":"moin"}`)}
	})
	if u := m.ended(refitv1alpha1.ComponentFailed); u.Status.Error.Reason != refitv1alpha1.ReasonPlanChanged || m.state() != before {
		t.Errorf("the error is %+v, the state\n%s", u.Status.Error, m.state())
	}
	offer := m.offer()
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Digest, s.Attempt = offer.Digest, 1 })
	m.ended(refitv1alpha1.ComponentSucceeded)
}

func TestReleasesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(*made){
		"signed by another key": func(m *made) { m.options.Keys = (&bed{t: m.t, key: artifact.NewKey()}).keys() },
		"components changed": func(m *made) {
			var envelope map[string]any
			must(m.t, json.Unmarshal(m.release.Spec.Components, &envelope))
			payload, _ := envelope["payload"].(string)
			envelope["payload"] = strings.Replace(payload, payload[40:44], "AAAA", 1)
			text, err := json.Marshal(envelope)
			must(m.t, err)
			m.replace(text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newBed(t).newMade()
			m.installOld()
			offer, before := m.offer(), m.state()
			tamper(m)
			m.order(offer)
			if u := m.ended(refitv1alpha1.ComponentFailed); u.Status.Error.Reason != "SignatureInvalid" || len(u.Status.Steps) > 0 || m.state() != before {
				t.Errorf("the status is %+v, the error %+v", u.Status, u.Status.Error)
			}
		})
	}
}

// replace replaces the ClusterRelease by one with other components.
func (m *made) replace(list []byte) {
	m.t.Helper()
	must(m.t, m.client.Delete(m.t.Context(), m.release))
	m.release.ResourceVersion, m.release.UID, m.release.Spec.Components = "", "", list
	must(m.t, m.client.Create(m.t.Context(), m.release))
}

func TestOrdersDuringAnUpgrade(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.Values = map[string]any{"ready": false} })
	m.installOld()
	m.options.Limit = func(step component.Step) time.Duration {
		if step.Name == "wave-rest" {
			return 5 * time.Second
		}
		return step.Limit
	}
	m.order(m.offer())
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual })
	u := m.ended(refitv1alpha1.ComponentFailed)
	if reason := u.Status.Error.Reason; reason != "ObjectNotReady" && reason != "StepTimeout" || u.Status.Error.Step != "wave-rest" { // Helm itself may be slow
		t.Errorf("the error is %+v", u.Status.Error)
	}
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Version = "3.0.0" })
	u = m.ended(refitv1alpha1.ComponentFailed)
	if accepted := u.Status.Conditions[0]; accepted.Status != metav1.ConditionFalse || accepted.Reason != component.RefusedBusy {
		t.Errorf("another version was accepted: %+v", accepted)
	}
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) {
		s.Version, s.Permit = "2.0.0", refitv1alpha1.PermitRollback
	})
	m.ended(refitv1alpha1.ComponentRolledBack)
}

// TestTheManager runs the agent as its command does.
func TestTheManager(t *testing.T) {
	m := newBed(t).newMade()
	m.installOld()
	lease := &controller.Lease{}
	options := m.options
	options.Lease = lease.Context
	stop, err := controller.Lead(t.Context(), controller.Run, controller.Options{
		Config: m.config, Log: options.Log, LeaseNamespace: components.Namespace, LeaseName: components.Name, Lease: lease,
		Controllers: []controller.Setup{components.Setup(options)},
	})
	must(t, err)
	defer stop()
	var c refitv1alpha1.Component
	m.eventually("the Component has an offer", func() error {
		if err := m.client.Get(t.Context(), client.ObjectKey{Name: m.name}, &c); err != nil {
			return err
		}
		if len(c.Status.Offers) == 0 || c.Status.Offers[0].Digest == "" {
			return errNotYet
		}
		return nil
	})
	m.order(c.Status.Offers[0])
	m.eventually("the component is upgraded", func() error {
		if m.upgrade().Status.Phase != refitv1alpha1.ComponentSucceeded {
			return errNotYet
		}
		return nil
	})
	m.eventually("the Component has the new version", func() error {
		must(t, m.client.Get(t.Context(), client.ObjectKey{Name: m.name}, &c))
		if c.Status.Installed.Version != "2.0.0" || c.Status.Offers[0].Action != refitv1alpha1.ActionNone {
			return errNotYet
		}
		return nil
	})
	if lease.Context(t.Context()).Err() != nil {
		t.Error("the lease has ended")
	}
	stop()
	if deadline, ok := lease.Context(t.Context()).Deadline(); !ok || deadline.After(time.Now()) {
		t.Error("the lease goes on after the leader has stopped")
	}
}

// TestASecondWriter changes the journal while a process waits in a step: the process does not
// overwrite it, and continues from it.
func TestASecondWriter(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.Values = map[string]any{"ready": false} })
	m.installOld()
	m.order(m.offer())
	ctx, kill := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.runIn(ctx, m.config) }()
	m.eventually("the last wave waits", func() error {
		if u := m.upgrade(); u.Status.Step != "wave-rest" || u.Status.Waiting == "" {
			return errNotYet
		}
		return nil
	})
	m.eventually("the journal is changed", func() error { // as another leader does
		u := m.upgrade()
		u.Status.Left = []string{"of the other leader"}
		return m.client.Status().Update(t.Context(), u)
	})
	m.makeAllReady()
	must(t, <-done)
	kill()
	if u := m.upgrade(); u.Status.Phase != refitv1alpha1.ComponentSucceeded || len(u.Status.Left) != 1 {
		t.Errorf("the status is %+v", u.Status)
	}
}
