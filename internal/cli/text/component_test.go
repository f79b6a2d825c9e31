package text_test

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/components"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

const offerDigest = "sha256:5f1d4c7f1be3a3ad3b2d1f5f7d2b0d4f8f6f1a9f0f1c0c5a0b9b7d4c3e2f1a0b"

// addOn is a Component with an offer of the next ClusterRelease.
func addOn(name, installed, offered string, changes ...func(*refitv1alpha1.Component)) *refitv1alpha1.Component {
	c := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}}
	c.Spec.Manage = refitv1alpha1.ManageRefit
	c.Status = refitv1alpha1.ComponentStatus{ObservedGeneration: 1, Owner: refitv1alpha1.OwnerNone}
	if installed != "" {
		c.Status.Owner = refitv1alpha1.OwnerRefit
		c.Status.Installed = &refitv1alpha1.InstalledComponent{Version: installed, Namespace: "kube-system", Name: name, Revision: 3}
	}
	if offered != "" {
		o := refitv1alpha1.ComponentOffer{
			Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"}, Version: offered, Action: refitv1alpha1.ActionUpgrade, Kubernetes: "v1.36.3",
			Digest: offerDigest, Changes: refitv1alpha1.ObjectChanges{Create: 1, Change: 4},
		}
		switch installed {
		case "":
			o.Action = refitv1alpha1.ActionInstall
		case offered:
			o.Action, o.Digest, o.Changes = refitv1alpha1.ActionNone, "", refitv1alpha1.ObjectChanges{}
		}
		c.Status.Offers = append(c.Status.Offers, o)
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

func ownedBy(owner refitv1alpha1.ComponentOwner) func(*refitv1alpha1.Component) {
	return func(c *refitv1alpha1.Component) { c.Status.Owner = owner }
}

func withProblem(p refitv1alpha1.ComponentProblem) func(*refitv1alpha1.Component) {
	return func(c *refitv1alpha1.Component) {
		offer := &c.Status.Offers[len(c.Status.Offers)-1]
		offer.Problems = append(offer.Problems, p)
	}
}

var (
	unadopted = withProblem(refitv1alpha1.ComponentProblem{
		Reason: "ComponentNotAdopted", Message: "somebody installed metrics-server with Helm, and Refit may not change it", Blocks: true,
		Remedy: "Run `refit components adopt metrics-server`, so that Refit takes over the Helm release",
	})
	ofGitOps = withProblem(refitv1alpha1.ComponentProblem{
		Reason: "ComponentOwnedByGitOps", Message: "Flux manages kueue and would undo the upgrade", Blocks: true,
		Remedy: "Set spec.manage of the Component to Observe, and upgrade it with the tool that owns it",
	})
)

func withCRDs(c *refitv1alpha1.Component) {
	offer := &c.Status.Offers[0]
	offer.Changes.Delete = 18
	offer.Deletes = []string{"ClusterRole.rbac.authorization.k8s.io liqo-old", "Job.batch pre-delete"}
	offer.CRDs = []refitv1alpha1.CRDChange{{Name: "foreignclusters.core.liqo.io", Objects: 2, Storage: "v1beta1"}, {Name: "virtualnodes.offloading.liqo.io", Objects: 1}}
	offer.Problems = []refitv1alpha1.ComponentProblem{
		{
			Reason: "CRDDropsFields", Object: "foreignclusters.core.liqo.io turin", Message: "the new version drops .spec.tenant", Blocks: true,
			Remedy: "Remove the fields from the objects, or ask the publisher for a version that keeps them",
		},
		{Reason: "UpgradeDeletesCRD", Object: "peers.liqo.io", Message: "Helm alone would delete the CRD peers.liqo.io with all its objects; Refit keeps it"},
	}
}

// orderOf is the order of an operation that is in progress.
func orderOf(c *refitv1alpha1.Component, change func(*refitv1alpha1.ComponentUpgradeStatus)) progress.KnownComponent {
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1-36-3", UID: "u1"}}
	order := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Generation: 1}}
	order.Spec = refitv1alpha1.ComponentUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: operation.Name, UID: types.UID("u1")}, Sequence: 4, Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"},
		Version: "v1.2.0", Action: refitv1alpha1.ActionUpgrade, Permit: refitv1alpha1.PermitApply,
	}
	order.Status = refitv1alpha1.ComponentUpgradeStatus{
		ObservedSequence: 4, Phase: refitv1alpha1.ComponentApplying, From: "v1.1.2", StartTime: ago(2 * time.Minute), Step: "wave-fabric",
	}
	for i, name := range []string{"check", "save", "freeze", "crds", "wave-fabric"} {
		order.Status.Steps = append(order.Status.Steps, refitv1alpha1.StepStatus{
			Name: name, State: refitv1alpha1.StepDone, StartTime: ago(time.Duration(120-20*i) * time.Second), CompletionTime: ago(time.Duration(105-20*i) * time.Second),
		})
	}
	last := &order.Status.Steps[4]
	last.State, last.CompletionTime = refitv1alpha1.StepRunning, nil
	change(&order.Status)
	return progress.KnownComponent{Component: c, Order: order, Operation: operation}
}

func frozenFor(since time.Duration) *refitv1alpha1.FrozenStatus {
	return &refitv1alpha1.FrozenStatus{Since: *ago(since), Limit: metav1.Duration{Duration: 30 * time.Minute}}
}

func TestComponentList(t *testing.T) {
	busy := orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), func(*refitv1alpha1.ComponentUpgradeStatus) {})
	observed := addOn("kueue", "0.14.0", "0.15.0", ownedBy(refitv1alpha1.OwnerFlux), ofGitOps)
	observed.Spec.Manage = refitv1alpha1.ManageObserve
	twice := addOn("metrics-server", "0.7.2", "0.8.0", ownedBy(refitv1alpha1.OwnerHelm), unadopted)
	twice.Status.Offers = append(twice.Status.Offers, addOn("", "", "0.9.0", unadopted).Status.Offers...)
	twice.Status.Offers[1].Release.Name = "kubernetes-v1.37.1"
	removed := addOn("lws", "0.8.0", "0.8.1")
	removed.Status.Offers = append(removed.Status.Offers, removed.Status.Offers[0])
	for i := range removed.Status.Offers {
		removed.Status.Offers[i].Action, removed.Status.Offers[i].Changes = refitv1alpha1.ActionRemove, refitv1alpha1.ObjectChanges{Delete: 16}
	}
	removed.Status.Offers[1].Release.Name = "kubernetes-v1.36.3-d"
	list := progress.NewComponents("prod", []refitv1alpha1.Component{
		*twice, *busy.Component, *observed, *removed, *addOn("kured", "", "0.8.0"), *addOn("certs", "1.11.5", "1.11.5"), {ObjectMeta: metav1.ObjectMeta{Name: "new"}},
	}, []refitv1alpha1.ComponentUpgrade{*busy.Order})
	golden(t, "components", text.Components(list, "refit"), 200)
	golden(t, "components-none", text.Components(progress.NewComponents("prod", nil, nil), "refit"), 200)
}

func TestComponentExplanations(t *testing.T) {
	failed := func(s *refitv1alpha1.ComponentUpgradeStatus) {
		s.Phase, s.Step, s.Waiting, s.CompletionTime = refitv1alpha1.ComponentRolledBack, "", "", ago(10*time.Second)
		s.Steps[4].State, s.Steps[4].CompletionTime = refitv1alpha1.StepUndone, ago(20*time.Second)
		s.Left = []string{"CRD foreignclusters.core.liqo.io stays new: 2 objects have .spec.tenant"}
		s.Error = &refitv1alpha1.NodeError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "ComponentNotReady", Step: "wave-fabric", At: *ago(time.Minute),
			Message: "DaemonSet liqo-fabric does not become ready", Remedy: "Check its pods: `kubectl -n liqo get pods`; then run `refit retry`",
		}
	}
	ended := orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), failed)
	ended.Operation = nil
	held := func(answered, aborted, open bool) progress.KnownComponent {
		known := orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), func(*refitv1alpha1.ComponentUpgradeStatus) {})
		order := known.Order
		order.Status.Order = &refitv1alpha1.ComponentOrder{
			Operation: order.Spec.Operation, Release: order.Spec.Release, Version: order.Spec.Version, Action: order.Spec.Action,
		}
		order.Spec.Permit, order.Spec.Sequence = refitv1alpha1.PermitHold, 5
		if answered {
			order.Status.ObservedSequence = 5
		}
		if !open {
			last := &order.Status.Steps[4]
			last.State, last.CompletionTime, order.Status.Step = refitv1alpha1.StepDone, ago(time.Second), ""
		}
		known.Operation.Spec.Paused, known.Operation.Spec.Aborted = !aborted, aborted
		if aborted && answered {
			known.Operation.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Reason: refitv1alpha1.ReasonAborted}}
		}
		return known
	}
	removal := func(change func(*progress.KnownComponent)) progress.KnownComponent {
		known := held(true, true, false)
		known.Order.Spec.Action, known.Order.Spec.Version = refitv1alpha1.ActionRemove, "v1.1.2"
		known.Order.Status.Order.Action, known.Order.Status.Order.Version = refitv1alpha1.ActionRemove, "v1.1.2"
		change(&known)
		return known
	}
	alone := addOn("lws", "0.7.0", "0.8.0")
	for name, known := range map[string]progress.KnownComponent{
		"unread":    {Component: &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "metrics-server"}}},
		"unadopted": {Component: addOn("metrics-server", "0.7.2", "0.9.0", ownedBy(refitv1alpha1.OwnerHelm), unadopted)},
		"adopted": {Component: addOn("metrics-server", "0.7.2", "0.9.0", ownedBy(refitv1alpha1.OwnerHelm), func(c *refitv1alpha1.Component) {
			c.Spec.Adopt, c.Generation = true, 2
		})},
		"gitops": {Component: addOn("kueue", "0.14.0", "0.15.0", ownedBy(refitv1alpha1.OwnerFlux), ofGitOps)},
		"observed": {Component: addOn("kueue", "0.14.0", "0.15.0", ownedBy(refitv1alpha1.OwnerFlux), ofGitOps, func(c *refitv1alpha1.Component) {
			c.Spec.Manage = refitv1alpha1.ManageObserve
		})},
		"current":   {Component: addOn("certs", "1.11.5", "1.11.5")},
		"installed": {Component: addOn("lws", "", "0.8.0")},
		"removed": {Component: addOn("lws", "0.7.0", "0.7.1", func(c *refitv1alpha1.Component) {
			offer := &c.Status.Offers[0]
			offer.Action, offer.Version, offer.Changes, offer.Deletes = refitv1alpha1.ActionRemove, "0.7.0", refitv1alpha1.ObjectChanges{Delete: 1}, []string{"Deployment.apps lws"}
		})},
		"pausing":  held(false, false, true),
		"paused":   held(true, false, false),
		"aborting": held(false, true, true),
		"aborted":  held(true, true, false),
		"removal-aborted": removal(func(k *progress.KnownComponent) {
			k.Operation.Spec.Target = refitv1alpha1.Target{Release: "kubernetes-v1.36.3-slim"}
			k.Alone = []string{"kubernetes-v1.36.3-slim"}
		}),
		"removal-aborted-alone": removal(func(k *progress.KnownComponent) {
			k.Operation.Status.Plan = &refitv1alpha1.PlanSummary{
				From: "v1.36.3", To: "v1.36.3", Components: []refitv1alpha1.PlannedComponent{{Name: "liqo", Action: refitv1alpha1.ActionRemove}},
			}
		}),
		"removal-aborted-deleted": removal(func(k *progress.KnownComponent) { k.Operation = nil }),
		"alone":                   {Component: alone, Alone: []string{"kubernetes-v1.36.3"}},
		"downgraded": {Component: addOn("certs", "1.11.5", "1.11.4", func(c *refitv1alpha1.Component) {
			c.Status.Offers[0].Action, c.Status.Offers[0].Digest = refitv1alpha1.ActionNone, ""
		})},
		"blocked": {Component: addOn("liqo", "v1.1.2", "v1.2.0", withCRDs)},
		"running": orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), func(s *refitv1alpha1.ComponentUpgradeStatus) {
			s.Waiting, s.Frozen = "DaemonSet liqo-fabric: 2 of 5 pods are ready", frozenFor(5*time.Minute)
		}),
		"frozen": orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), func(s *refitv1alpha1.ComponentUpgradeStatus) { s.Frozen = frozenFor(45 * time.Minute) }),
		"failed": orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), failed),
		"ended":  ended,
		"refused": orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), func(s *refitv1alpha1.ComponentUpgradeStatus) {
			*s = refitv1alpha1.ComponentUpgradeStatus{ObservedSequence: 4, Phase: refitv1alpha1.ComponentIdle, Conditions: []metav1.Condition{{
				Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, ObservedGeneration: 1, Reason: "StaleEpoch", Message: "the order has a former epoch",
			}}}
		}),
		"unanswered": orderOf(addOn("liqo", "v1.1.2", "v1.2.0"), func(s *refitv1alpha1.ComponentUpgradeStatus) { *s = refitv1alpha1.ComponentUpgradeStatus{} }),
	} {
		e := progress.NewComponentExplanation("prod", "refit", known, noon)
		golden(t, "component-"+name, text.ExplainComponent(e, text.Page{Width: 100}, noon), 160)
	}
}

func TestComponentDiffs(t *testing.T) {
	offer := cliv1alpha1.ComponentOffer{
		Release: "kubernetes-v1.36.3", Version: "0.9.0", Action: "Upgrade", Kubernetes: "v1.36.3", Digest: offerDigest,
		Changes: &cliv1alpha1.ObjectChanges{Change: 1, Delete: 1},
	}
	objects := []cliv1alpha1.ObjectDiff{
		{Change: "Change", Object: "Deployment.apps metrics-server", Diff: "--- metrics-server 0.7.2\n+++ metrics-server 0.9.0\n@@ -1,3 +1,3 @@\n kind: Deployment\n-a: 1\n+a: 2\n c: 3\n"},
		{Change: "Delete", Object: "Role.rbac.authorization.k8s.io old\x1b[2J", Diff: "--- metrics-server 0.7.2\n+++ /dev/null\n@@ -1 +0,0 @@\n-kind: Role\n"},
		{Change: "Keep", Object: "CustomResourceDefinition.apiextensions.k8s.io things.test", Diff: "--- metrics-server 0.7.2\n+++ /dev/null\n@@ -1 +0,0 @@\n-kind: CRD\n"},
	}
	missing := cliv1alpha1.ComponentOffer{Release: offer.Release, Version: "0.9.0", Action: "Upgrade", Kubernetes: "v1.36.3", Problems: []cliv1alpha1.ComponentProblem{{
		Reason: "ChartMissing", Message: "the cluster does not have the chart", Remedy: "Apply the file of the signed ClusterRelease, which has its charts: `kubectl apply --server-side -f FILE`", Blocks: true,
	}}}
	for name, offers := range map[string][]cliv1alpha1.OfferDiff{
		"changes":   {{ComponentOffer: offer, Objects: objects}},
		"other":     {{ComponentOffer: offer, Recorded: "sha256:0000000000001111", Objects: objects[:1], Notes: []string{"The objects of the CRD things.test were not checked with your permissions: forbidden."}}},
		"missing":   {{ComponentOffer: missing, Recorded: offerDigest}},
		"downgrade": {{ComponentOffer: cliv1alpha1.ComponentOffer{Release: offer.Release, Version: "0.9.0", Action: "None", Kubernetes: "v1.36.3", Newer: "0.9.1"}}},
		"installed": {{ComponentOffer: cliv1alpha1.ComponentOffer{Release: offer.Release, Version: "0.9.0", Action: "None", Kubernetes: "v1.36.3"}}},
	} {
		golden(t, "component-diff-"+name, text.DiffComponent(&cliv1alpha1.ComponentDiff{Component: "metrics-server", Offers: offers}, text.Page{Width: 100}), 100)
	}
}

func TestAdoptions(t *testing.T) {
	for name, dryRun := range map[string]bool{"component-adopt": false, "component-adopt-dry-run": true} {
		a := &components.Adopter{Cluster: "prod", Command: "refit", DryRun: dryRun, Write: func(context.Context, string, bool) error { return nil }}
		result, err := a.Adopt(t.Context(), addOn("metrics-server", "0.7.2", "0.9.0", ownedBy(refitv1alpha1.OwnerHelm), unadopted))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, text.Adopt(result, text.Page{Width: 100}), 100)
	}
}

func TestTheStatusAfterAComponentFailed(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	u.Status.Phase = refitv1alpha1.PhaseStalled
	u.Status.Failures = []refitv1alpha1.Failure{{Component: "liqo", Message: "it failed", Remedy: "Fix the cause, then run `refit retry`"}}
	page := func() string {
		o := progress.NewOperation("prod", u, nil, noon)
		return text.Status(o, text.Page{Width: 100}, noon, func(command string) string { return "refit " + command })
	}
	if got := page(); !strings.Contains(got, "refit components explain liqo\n") || !strings.Contains(got, "refit retry night\n") {
		t.Errorf("stalled:\n%s", got)
	}
	u.Status.Phase = refitv1alpha1.PhaseAborted
	u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Reason: refitv1alpha1.ReasonAborted}}
	if got := page(); strings.Contains(got, "refit retry") || !strings.Contains(got, "Fix the cause, then start another upgrade") {
		t.Errorf("aborted:\n%s", got)
	}
}
