//go:build apiserver

package components

import (
	"strings"
	"testing"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// halfUpgraded is a component whose upgrade fails after the first of two waves, and stays so.
func halfUpgraded(t *testing.T) *made {
	t.Helper()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) {
		for i := range c.Recipe {
			if p := c.Recipe[i].Patch; p != nil {
				p.Path = "/spec/absent"
			}
		}
	})
	m.installOld()
	m.order(m.offer())
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual })
	m.failedPatch()
	return m
}

// failedPatch runs a process, and requires that it fails after the first wave.
func (m *made) failedPatch() {
	m.t.Helper()
	if u := m.ended(refitv1alpha1.ComponentFailed); u.Status.Error.Step != "patch-1" {
		m.t.Fatalf("the error is %+v", u.Status.Error)
	}
}

// orderAgain deletes the ComponentUpgrade, and orders what is offered then, as the controller does.
func (m *made) orderAgain() {
	m.t.Helper()
	u := m.upgrade()
	must(m.t, m.client.Delete(m.t.Context(), u))
	offer := m.offer()
	if offer.Action != refitv1alpha1.ActionUpgrade || offer.Digest == "" {
		m.t.Fatalf("the offer is %+v", offer)
	}
	again := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: m.name}, Spec: u.Spec}
	again.Spec.Digest = offer.Digest
	must(m.t, m.client.Create(m.t.Context(), again))
}

func TestAHalfUpgradedComponentIsNotInstalled(t *testing.T) {
	t.Parallel()
	m := halfUpgraded(t)
	if c := m.component(); c.Status.Installed == nil || c.Status.Installed.Version != "1.0.0" || m.offer().Action != refitv1alpha1.ActionUpgrade {
		t.Errorf("with its journal: %+v", c.Status)
	}
	m.orderAgain()
	if c := m.component(); c.Status.Installed == nil || c.Status.Installed.Version != "1.0.0" {
		t.Errorf("without its journal: %+v", c.Status)
	}
	m.failedPatch() // and not because of what the former journal left
}

// TestAnAbortedUpgrade stays in the phase Applying. The next operation continues it with an offer
// of its own.
func TestAnAbortedUpgrade(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) { c.Values = map[string]any{"ready": false} })
	m.installOld()
	m.order(m.offer())
	done := make(chan error, 1)
	go func() { done <- m.run(m.config) }()
	m.waits("wave-rest")
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Permit = refitv1alpha1.PermitHold })
	must(t, <-done)
	if u := m.upgrade(); u.Status.Phase != refitv1alpha1.ComponentApplying || u.Status.Step != "" {
		t.Fatalf("the status is %+v", u.Status)
	}
	m.spec(func(s *refitv1alpha1.ComponentSpec) { s.Manage = refitv1alpha1.ManageRefit })
	c := m.component()
	if c.Status.ObservedGeneration != c.Generation || c.Status.Installed == nil || c.Status.Installed.Version != "1.0.0" {
		t.Errorf("generation %d: %+v", c.Generation, c.Status)
	}
	offer := m.offer()
	if offer.Action != refitv1alpha1.ActionUpgrade || offer.Digest == "" {
		t.Fatalf("the offer is %+v", offer)
	}
	next := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: m.name + "-next"}}
	next.Spec.Target.Kubernetes, next.Spec.Approval = m.server.Version(), refitv1alpha1.ApprovalNone
	must(t, m.client.Create(t.Context(), next))
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) {
		s.Operation, s.Digest, s.Permit = refitv1alpha1.Operation{Name: next.Name, UID: next.UID}, offer.Digest, refitv1alpha1.PermitApply
	})
	m.makeAllReady()
	m.ended(refitv1alpha1.ComponentSucceeded)
	if c := m.component(); c.Status.Installed == nil || c.Status.Installed.Version != "2.0.0" {
		t.Errorf("after the next operation: %+v", c.Status)
	}
}

// records changes the status of the newest revisions of the Helm release.
func (m *made) records(newestFirst ...rcommon.Status) {
	m.t.Helper()
	clientset, err := kubernetes.NewForConfig(m.config)
	must(m.t, err)
	records := storage.Init(driver.NewSecrets(clientset.CoreV1().Secrets(m.name)))
	history, err := records.History(m.name)
	must(m.t, err)
	byRevision := map[int]*release.Release{}
	for _, item := range history {
		if r, ok := item.(*release.Release); ok {
			byRevision[r.Version] = r
		}
	}
	for i, status := range newestFirst {
		r := byRevision[len(byRevision)-i]
		r.Info.Status = status
		must(m.t, records.Update(r))
	}
}

func TestAnActionOfADeletedJournalIsUnlocked(t *testing.T) {
	t.Parallel()
	m := halfUpgraded(t)
	m.records(rcommon.StatusPendingUpgrade, rcommon.StatusDeployed) // as after a kill
	m.orderAgain()
	m.failedPatch()
}

func TestAnInstallationAfterOneWhoseHistoryWasKept(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade()
	m.installOld()
	m.records(rcommon.StatusUninstalled) // by `helm uninstall --keep-history`
	offer := m.offer()
	if offer.Action != refitv1alpha1.ActionInstall {
		t.Fatalf("the offer is %+v", offer)
	}
	m.foreignPod()
	m.limitVerify()
	m.order(offer)
	m.ended(refitv1alpha1.ComponentRolledBack)
	if record, err := m.helm().Newest(t.Context()); err != nil || record.Revision != 1 {
		t.Errorf("%v: revision %d is the newest", err, record.Revision)
	}
}

func TestARollbackAfterSomebodyDeletedACRD(t *testing.T) {
	t.Parallel()
	m := halfUpgraded(t)
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things." + m.name + ".test"}}
	must(t, m.client.Delete(t.Context(), definition))
	m.eventually("the CRD is deleted", func() error {
		if err := m.client.Get(t.Context(), client.ObjectKeyFromObject(definition), definition); !apierrors.IsNotFound(err) {
			return errNotYet
		}
		return nil
	})
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Permit, s.Attempt = refitv1alpha1.PermitRollback, 1 })
	u := m.ended(refitv1alpha1.ComponentRolledBack)
	if left := strings.Join(u.Status.Left, "; "); !strings.Contains(left, "somebody else has deleted it") {
		t.Errorf("left: %q", left)
	}
	if record, err := m.helm().Deployed(t.Context()); err != nil || record.ChartVersion != "1.0.0" {
		t.Errorf("%v: version %s is deployed", err, record.ChartVersion)
	}
}

func TestAWaivedProblem(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(func(c *refitv1alpha1.ReleaseComponent) {
		c.Recipe = append([]refitv1alpha1.RecipeStep{
			{Require: &refitv1alpha1.RecipeRequire{Peers: &refitv1alpha1.RecipePeers{ListedBy: "things." + c.Name + ".test"}}},
		}, c.Recipe...)
	})
	m.installOld()
	offer := m.offer()
	if blocked(offer) != "PeerUnknown" {
		t.Fatalf("the offer is %+v", offer)
	}
	m.order(offer)
	if u := m.ended(refitv1alpha1.ComponentFailed); u.Status.Error.Reason != "PeerUnknown" {
		t.Errorf("the error is %+v", u.Status.Error)
	}
	var operation refitv1alpha1.ClusterUpgrade
	must(t, m.client.Get(t.Context(), client.ObjectKey{Name: m.name}, &operation))
	operation.Spec.Waivers = []refitv1alpha1.Waiver{{Check: "PeerUnknown", Reason: "it is a thing"}}
	must(t, m.client.Update(t.Context(), &operation))
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Attempt = 1 })
	m.ended(refitv1alpha1.ComponentSucceeded)
}
