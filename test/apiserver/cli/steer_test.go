//go:build apiserver

package cli

import (
	"context"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func failed(u *refitv1alpha1.ClusterUpgrade) {
	u.Status.Phase, u.Status.Nodes.Failed = refitv1alpha1.PhaseStalled, 1
	u.Status.Failures = []refitv1alpha1.Failure{{Node: "worker-1", Class: refitv1alpha1.FailureManualIntervention, Step: "swap-kubelet", Message: "it does not start"}}
}

// TestVerbs runs each command twice: the second run changes nothing and succeeds.
func TestVerbs(t *testing.T) {
	b := newBed(t)
	b.operation(t, "op")
	b.refit(t, "pause").want(t, 0, "Pausing op", "worker-1: not changed yet, so it is uncordoned and released", "Resume it with `refit resume`")
	if !b.get(t, "op").Spec.Paused {
		t.Error("it is not paused")
	}
	b.refit(t, "pause", "op").want(t, 0, "paused already")
	b.refit(t, "resume").want(t, 0, "Resuming op")
	if b.get(t, "op").Spec.Paused {
		t.Error("it is still paused")
	}
	b.refit(t, "resume").want(t, 0, "is not paused")

	b.refit(t, "retry").want(t, 0, "nothing to retry")
	b.status(t, "op", failed, func(u *refitv1alpha1.ClusterUpgrade) { u.Status.ObservedGeneration = u.Generation })
	b.refit(t, "retry").want(t, 0, "Retrying op: worker-1 at swap-kubelet")
	b.refit(t, "retry").want(t, 0, "the controllers have not observed it yet")
	if got := b.get(t, "op").Spec.Retry; got != 1 {
		t.Errorf("retry is %d, want 1", got)
	}

	b.refit(t, "approve", "--plan", another).want(t, 1, "is "+hash+", not the given one")
	b.refit(t, "approve", "--plan", "sha256:12").want(t, 2, "not the hash of a plan")
	b.refit(t, "approve", "--plan", hash).want(t, 0, "Approved: Kubernetes v1.35.4 → v1.36.3 (1 control plane node to v1.36.3 and 2 workers to v1.36.3)", hash)
	b.refit(t, "approve").want(t, 0, "approved already")
	if got := b.get(t, "op").Spec.ApprovedPlan; got != hash {
		t.Errorf("approved is %q", got)
	}

	b.refit(t, "abort").want(t, 2, "use --yes")
	if b.get(t, "op").Spec.Aborted {
		t.Error("it is aborted, and nobody said yes")
	}
	b.refit(t, "abort", "--yes").want(t, 0, "Aborting op", "Upgraded nodes keep the new version (1 of 3 nodes)")
	b.refit(t, "abort").want(t, 0, "being aborted already")
	b.refit(t, "pause").want(t, 1, "is being aborted")
	b.status(t, "op", ended(refitv1alpha1.PhaseAborted))
	b.refit(t, "pause").want(t, 1, "no operation is in progress", "the last one, op, is Aborted")
	b.refit(t, "pause", "op").want(t, 1, "has ended (Aborted)")
	b.refit(t, "pause", "nobody").want(t, 1, "operation nobody not found; existing operations: op")
}

func TestVerbsAsJSON(t *testing.T) {
	b := newBed(t)
	b.operation(t, "op")
	type change struct {
		Kind, Operation, Verb, Message string
		Changed                        bool
	}
	for _, want := range []bool{true, false} {
		if got := decode[change](t, b.refit(t, "pause", "-o", "json").out); got.Kind != "Change" || got.Operation != "op" || got.Verb != "pause" || got.Changed != want || got.Message == "" {
			t.Errorf("%+v", got)
		}
	}
}

// TestVerbsApplyToTheOperationInProgress has two unfinished operations: the older one is active,
// and commands apply to it.
func TestVerbsApplyToTheOperationInProgress(t *testing.T) {
	b := newBed(t)
	b.operation(t, "a-past", ended(refitv1alpha1.PhaseSucceeded))
	b.operation(t, "b-acts")
	b.operation(t, "c-waits")
	b.refit(t, "pause").want(t, 0, "Pausing b-acts")
	if b.get(t, "c-waits").Spec.Paused || b.get(t, "a-past").Spec.Paused {
		t.Error("another operation was paused, too")
	}
}

// TestPermissionsOfUsers proves that viewing, requesting and approving an upgrade are separate
// permissions, and that the command reports the missing one.
func TestPermissionsOfUsers(t *testing.T) {
	b := newBed(t)
	b.operation(t, "op")
	for user, role := range map[string]string{"olga": "refit-operator", "anna": "refit-approver", "vera": "refit-viewer"} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		must(t, b.Create(t.Context(), binding))
		t.Cleanup(func() { must(t, b.Delete(context.WithoutCancel(t.Context()), binding)) })
	}
	b.as(t, "olga").refit(t, "approve").want(t, 1, "olga may not approve a plan")
	b.as(t, "olga").refit(t, "pause").want(t, 0, "Pausing op")
	b.as(t, "anna").refit(t, "approve").want(t, 0, "Approved")
	b.as(t, "vera").refit(t, "status").want(t, 0, "op")
	b.as(t, "vera").refit(t, "explain", "worker-1").want(t, 1, "node worker-1 not found") // rather than that she lacks permission
	b.as(t, "vera").refit(t, "resume").want(t, 1, "forbidden")
	b.as(t, "nobody").refit(t, "status").want(t, 1, "cannot list ClusterUpgrades", "forbidden")
}

func TestHistory(t *testing.T) {
	b := newBed(t)
	b.refit(t, "history").want(t, 0, "There are no operations")
	b.refit(t, "status").want(t, 1, "no operation exists", "refit upgrade --to VERSION")
	b.operation(t, "first", ended(refitv1alpha1.PhaseAborted), func(u *refitv1alpha1.ClusterUpgrade) {
		failed(u)
		u.Status.Phase = refitv1alpha1.PhaseAborted
	})
	b.operation(t, "second", ended(refitv1alpha1.PhaseSucceeded))
	a := b.refit(t, "history")
	a.want(t, 0, "failed: worker-1", "3/3", "1/3")
	if strings.Index(a.out, "second") > strings.Index(a.out, "first") {
		t.Errorf("the newest is not the first:\n%s", a.out)
	}
	type history struct {
		Operations []struct {
			Name, Phase string
			Ended       bool
		}
	}
	if got := decode[history](t, b.refit(t, "history", "-o", "json").out); len(got.Operations) != 2 || !got.Operations[0].Ended {
		t.Errorf("%+v", got)
	}
}
