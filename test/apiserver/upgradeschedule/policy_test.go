//go:build apiserver

package upgradeschedule

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/schedule"
)

// scheduler is a client of the account that the controller impersonates.
func (b *bed) scheduler() client.Client {
	b.t.Helper()
	config := rest.CopyConfig(b.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: refitv1alpha1.SchedulerUser}
	return b.clientOf(config)
}

// given is a schedule as the API has it, which the controller has given a slot.
func (b *bed) given() *unstructured.Unstructured {
	b.t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(refitv1alpha1.GroupVersion.WithKind("UpgradeSchedule"))
	must(b.t, b.client.Get(b.t.Context(), types.NamespacedName{Name: name}, out))
	return out
}

func set(t *testing.T, object map[string]any, value any, path ...string) {
	t.Helper()
	if value == nil {
		unstructured.RemoveNestedField(object, path...)
		return
	}
	must(t, unstructured.SetNestedField(object, value, path...))
}

// TestTheSchedulerCreatesOnlyTheUpgradesOfSchedules proves what somebody can do who has taken over
// the controller, and so the account that it impersonates.
func TestTheSchedulerCreatesOnlyTheUpgradesOfSchedules(t *testing.T) {
	b := newBed(t)
	b.everyMinute(func(s *refitv1alpha1.UpgradeSchedule) {
		s.Spec.Template.Approval = refitv1alpha1.ApprovalNone
		s.Spec.Template.NodeSelector = refitv1alpha1.Labels{"pool": "gpu"}
	})
	b.reconcile(b.controller(b.config))
	scheduler := b.scheduler()
	attempt := func(change func(map[string]any)) error {
		given := b.given()
		start := &schedule.Start{Time: time.Now(), Target: schedule.Target{Release: "kubernetes-v1.35.5"}}
		object := schedule.Operation(given.Object, name, given.GetLabels()[refitv1alpha1.LabelScheduleSlot], start)
		if change != nil {
			object = (&unstructured.Unstructured{Object: object}).DeepCopy().Object
			change(object)
		}
		return scheduler.Create(t.Context(), &unstructured.Unstructured{Object: object}, client.DryRunAll)
	}
	b.wait("the policies know the schedule", func() (bool, string) {
		err := attempt(nil)
		if err == nil {
			return true, ""
		}
		return false, err.Error()
	})
	const notTemplate = "the spec of the ClusterUpgrade is not the template of UpgradeSchedule weekly with a ClusterRelease as its target"
	for situation, test := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"another approval":      {func(o map[string]any) { set(t, o, "Required", "spec", "approval") }, notTemplate},
		"no node selector":      {func(o map[string]any) { set(t, o, nil, "spec", "nodeSelector") }, notTemplate},
		"another node selector": {func(o map[string]any) { set(t, o, "cpu", "spec", "nodeSelector", "pool") }, notTemplate},
		"a waiver": {func(o map[string]any) {
			set(t, o, []any{map[string]any{"check": "BackupProven", "reason": "x"}}, "spec", "waivers")
		}, notTemplate},
		"a pool":                     {func(o map[string]any) { set(t, o, []any{map[string]any{"name": "default"}}, "spec", "pools") }, notTemplate},
		"a scope":                    {func(o map[string]any) { set(t, o, "Workers", "spec", "scope") }, notTemplate},
		"another backup":             {func(o map[string]any) { set(t, o, "Restore", "spec", "backup", "drill") }, notTemplate},
		"an approved plan":           {func(o map[string]any) { set(t, o, "", "spec", "approvedPlan") }, notTemplate},
		"an abandoned node":          {func(o map[string]any) { set(t, o, []any{"cp-1"}, "spec", "abandonedNodes") }, notTemplate},
		"a version":                  {func(o map[string]any) { set(t, o, map[string]any{"kubernetes": "v1.35.5"}, "spec", "target") }, notTemplate},
		"a name of its own":          {func(o map[string]any) { set(t, o, "to-v1-35-5", "metadata", "name") }, "the scheduler may create only ClusterUpgrades of weekly in slot 0"},
		"another schedule":           {func(o map[string]any) { set(t, o, "daily", "metadata", "labels", refitv1alpha1.LabelSchedule) }, "the scheduler may create only ClusterUpgrades of weekly in slot 0"},
		"a slot without a schedule":  {func(o map[string]any) { set(t, o, "5", "metadata", "labels", refitv1alpha1.LabelScheduleSlot) }, "no params found for policy binding"},
		"a slot that does not exist": {func(o map[string]any) { set(t, o, "8", "metadata", "labels", refitv1alpha1.LabelScheduleSlot) }, "must set both"},
		"no slot":                    {func(o map[string]any) { set(t, o, nil, "metadata", "labels", refitv1alpha1.LabelScheduleSlot) }, "must set both"},
		"no labels":                  {func(o map[string]any) { set(t, o, nil, "metadata", "labels") }, "must set both"},
		"another label":              {func(o map[string]any) { set(t, o, "b", "metadata", "labels", "a") }, "the scheduler may set only the labels"},
		"an annotation":              {func(o map[string]any) { set(t, o, "b", "metadata", "annotations", "a") }, "the scheduler may set only the labels"},
		"a finalizer":                {func(o map[string]any) { set(t, o, []any{"a.example.com/b"}, "metadata", "finalizers") }, "the scheduler may set only the labels"},
		"a start two hours ago":      {func(o map[string]any) { set(t, o, b.operationOf(time.Now().Add(-2*time.Hour)), "metadata", "name") }, "is not a start of UpgradeSchedule weekly that is due now"},
		"a start tomorrow":           {func(o map[string]any) { set(t, o, b.operationOf(time.Now().Add(24*time.Hour)), "metadata", "name") }, "is not a start of UpgradeSchedule weekly that is due now"},
	} {
		b.refused(situation, attempt(test.change), test.want)
	}
	if err := attempt(nil); err != nil {
		t.Errorf("the upgrade of the schedule: %v", err)
	}

	s := b.schedule()
	s.Spec.Suspend = true
	must(t, b.client.Update(t.Context(), s))
	b.wait("a suspended schedule starts nothing", func() (bool, string) {
		err := attempt(nil)
		if err == nil {
			return false, "it does"
		}
		b.refused("a suspended schedule", err, "UpgradeSchedule weekly is suspended")
		return true, ""
	})

	// RBAC denies everything else; the policy denies it even if RBAC does not.
	operation := &refitv1alpha1.ClusterUpgrade{}
	operation.Name, operation.Spec.Target.Kubernetes = "manual", "v1.35.5"
	must(t, b.client.Create(t.Context(), operation))
	mighty := b.clientOf(b.As(t, refitv1alpha1.SchedulerUser, "system:masters"))
	operation.Spec.Approval = refitv1alpha1.ApprovalNone
	b.refused("an update", mighty.Update(t.Context(), operation), "the scheduler may only create clusterupgrades, not UPDATE clusterupgrades")
	b.refused("a deletion", mighty.Delete(t.Context(), operation), "the scheduler may only create clusterupgrades, not DELETE clusterupgrades")
	b.refused("a schedule", mighty.Delete(t.Context(), b.schedule()), "the scheduler may only create clusterupgrades, not DELETE upgradeschedules")
	b.refused("an update without permission", scheduler.Update(t.Context(), operation), "cannot update resource")
	plain := b.clientOf(b.config)
	fresh := &refitv1alpha1.ClusterUpgrade{}
	fresh.Name, fresh.Spec.Target.Kubernetes = "fresh", "v1.35.5"
	b.refused("the controller itself", plain.Create(t.Context(), fresh), "cannot create resource")
}

func TestTheControllerLeavesSchedulesToTheUser(t *testing.T) {
	b := newBed(t)
	b.everyMinute()
	mighty := b.clientOf(b.As(t, controllerUser, "system:masters"))
	for situation, patch := range map[string]string{
		"resumes": `{"spec":{"suspend":true}}`, "needs no approval": `{"spec":{"template":{"approval":"None"}}}`, "labels": `{"metadata":{"labels":{"a":"b"}}}`,
		"annotates": `{"metadata":{"annotations":{"a":"b"}}}`, "adds a finalizer": `{"metadata":{"finalizers":["a.example.com/b"]}}`,
	} {
		err := mighty.Patch(t.Context(), b.schedule(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
		b.refused(situation, err, "the controller may change only the slot and the status of an UpgradeSchedule")
	}
	b.refused("deletes", mighty.Delete(t.Context(), b.schedule(), client.DryRunAll), "the controller may change only the slot and the status of an UpgradeSchedule")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"refit.dev/schedule-slot":"3"}}}`))
	must(t, mighty.Patch(t.Context(), b.schedule(), patch, client.DryRunAll))
}
