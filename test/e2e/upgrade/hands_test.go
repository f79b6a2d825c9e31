//go:build e2e

package upgrade

import (
	"fmt"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestUpgradeHands pauses, resumes, aborts, deletes, fixes and retries an operation, at each stage.
// None of this may leave a cordon of Refit or remove one of an operator.
func TestUpgradeHands(t *testing.T) {
	c := newTrio(t, "uphand")
	play(t, c, []chapter{
		{"a plan that nobody approved is aborted, and a second operation waits for that", abortUnapproved},
		{"another version in the middle is refused", editVersion},
		{"abort while files are fetched", abortFetching},
		{"pause and resume while files are fetched, and pause while the control plane changes", pauseEarly},
		{"abort while the control plane is done and a worker is emptied", abortDraining},
		{"retry after a repaired cause", retryRepaired},
		{"the object is deleted while a worker is emptied", deleteDraining},
		{"the policy changes while a worker is emptied, and the changed plan is approved by its hash", changePolicy},
		{"leave the command, and a cordon of somebody else stays", leaveAndForeignCordon},
	})
	c.IsAt(t, c.r)
	history := c.RunRefit(t, "history")
	t.Log(history)
	for _, name := range []string{"unapproved", "fetching", "draining", "repaired", "to-v1-36-3"} {
		must(t, mentions(history, name))
	}
}

func abortUnapproved(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "unapproved", approvalRequired)
	plan := o.reaches(t, refitv1alpha1.PhaseAwaitingApproval).Status.Plan
	must(t, mentions(c.RunRefit(t, "status"), plan.Hash[:len("sha256:")+8]))
	second := c.ask(t, "unapproved-too", approvalRequired)
	must(t, mentions(second.reaches(t, refitv1alpha1.PhaseWaiting).Status.Message, "unapproved"))
	c.RunRefit(t, "abort", "unapproved", "--yes")
	o.reaches(t, refitv1alpha1.PhaseAborted)
	second.reaches(t, refitv1alpha1.PhaseAwaitingApproval)
	second.remove(t)
	second.gone(t)
	c.NoCordonLeft(t)
}

func editVersion(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "edited", approvalRequired)
	o.reaches(t, refitv1alpha1.PhaseAwaitingApproval)
	_, err := c.Kubectl(t.Context(), nil, "patch", "clusterupgrade", o.name, "--type=merge", "--patch", `{"spec":{"target":{"kubernetes":"v1.36.4"}}}`)
	must(t, mentions(fmt.Sprint(err), "target cannot be changed"))
	c.RunRefit(t, "abort", o.name, "--yes")
	o.reaches(t, refitv1alpha1.PhaseAborted)
}

func abortFetching(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "fetching")
	o.does(t, "Prefetching")
	c.RunRefit(t, "abort", o.name, "--yes")
	o.reaches(t, refitv1alpha1.PhaseAborted)
	c.untouched(t, c.controlPlane, c.first, c.last)
	c.NoCordonLeft(t)
}

// pauseEarly leaves a paused operation whose control plane is done.
func pauseEarly(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "draining")
	o.does(t, "Prefetching")
	c.RunRefit(t, "pause", o.name)
	o.reaches(t, refitv1alpha1.PhasePaused)
	c.untouched(t, c.controlPlane)
	c.RunRefit(t, "resume", o.name)
	c.AwaitStep(t, c.controlPlane, "swap-etcd") // an agent that has changed nothing yet would wait
	c.RunRefit(t, "pause", o.name)
	o.waits(t, "the control plane to finish", whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
		return u.Status.Phase == refitv1alpha1.PhasePaused && len(u.Status.Active) == 0 && u.Status.Nodes.Done == 1
	})
	must(t, c.NodeAt(t.Context(), c.controlPlane, newer))
	c.untouched(t, c.first, c.last)
	c.NoCordonLeft(t)
}

// abortDraining resumes that operation until a PDB blocks the drain of a worker.
func abortDraining(s scene) {
	t, c := s.t, s.trio
	o := c.operation("draining")
	c.budgetHolds(t)
	c.RunRefit(t, "resume", o.name)
	o.does(t, "shop/never")
	c.RunRefit(t, "pause", o.name)
	o.reaches(t, refitv1alpha1.PhasePaused)
	c.NoCordonLeft(t)
	c.RunRefit(t, "resume", o.name)
	o.does(t, "shop/never")
	c.RunRefit(t, "abort", o.name, "--yes")
	o.reaches(t, refitv1alpha1.PhaseAborted)
	c.NoCordonLeft(t)
	c.untouched(t, c.first, c.last)
	c.budgetGone(t)
}

// retryRepaired adds a flag to the kubelet of the first worker during its change, which the new
// kubelet does not support. An operator removes the flag and retries.
func retryRepaired(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "repaired", only(c.first))
	c.AwaitApplying(t, c.first)
	must(t, bed.WriteOn(t.Context(), c.first, extraFlags, "[Service]\nEnvironment=\"KUBELET_EXTRA_ARGS=--pod-infra-container-image=pause:3.10\"\n"))
	stalled := o.reaches(t, refitv1alpha1.PhaseStalled)
	if len(stalled.Status.Failures) != 1 || stalled.Status.Failures[0].Node != c.first.Name() || stalled.Status.Failures[0].Remedy == "" {
		t.Errorf("the failures are %v", stalled.Status.Failures)
	}
	c.untouched(t, c.last)
	c.explains(t, c.first, "pod-infra-container-image", "refit retry")
	for _, argv := range [][]string{{"rm", extraFlags}, {"systemctl", "daemon-reload"}} {
		_, err := c.first.Exec(t.Context(), argv...)
		must(t, err)
	}
	c.RunRefit(t, "retry", o.name)
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	c.NoCordonLeft(t)
}

// extraFlags is the file with the host owner's own kubelet flags.
const extraFlags = "/etc/systemd/system/kubelet.service.d/20-extra.conf"

func deleteDraining(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	o := c.ask(t, "deleted", only(c.last), neverWaived)
	o.does(t, "shop/never")
	o.remove(t)
	o.gone(t)
	c.NoCordonLeft(t)
	c.untouched(t, c.last)
	c.budgetGone(t)
}

// changePolicy changes the policy from waiting for a worker to skipping it. That is a new plan,
// which needs approval, although the first one needed none.
func changePolicy(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	o := c.ask(t, "changed", only(c.last), neverWaived)
	o.does(t, "shop/never")
	_, err := c.Kubectl(t.Context(), nil, "patch", "clusterupgrade", o.name, "--type=merge",
		"--patch", `{"spec":{"pools":[{"name":"default","drain":{"timeout":"1s","onBlocked":"Skip"}}]}}`)
	must(t, err)
	hash := o.reaches(t, refitv1alpha1.PhaseAwaitingApproval).Status.Plan.ProposedHash
	must(t, mentions(c.Refused(t, exitFailed, "approve", o.name), "approve "+o.name+" --plan"))
	must(t, mentions(c.RunRefit(t, "approve", o.name, "--plan", hash), hash))
	stalled := o.reaches(t, refitv1alpha1.PhaseStalled)
	if stalled.Status.Nodes.Skipped != 1 {
		t.Errorf("of the nodes are %+v", stalled.Status.Nodes)
	}
	must(t, mentions(stalled.Status.Message, c.last.Name()))
	c.ends(t, o)
	c.untouched(t, c.last)
	c.budgetGone(t)
}

func leaveAndForeignCordon(s scene) {
	t, c := s.t, s.trio
	_, err := c.Kubectl(t.Context(), nil, "cordon", c.first.Name())
	must(t, err)
	up := c.Upgrade(t, newer, append(waiveBare, "--scope", "Workers", "--waive", "NodeCordonedByHand/Node "+c.first.Name()+"=somebody looks at it")...)
	o := c.operation("to-v1-36-3")
	o.waits(t, "the operation to begin", whole, func(u *refitv1alpha1.ClusterUpgrade) bool { return u.Status.Phase == refitv1alpha1.PhaseRunning })
	up.Interrupt(t)
	up.Wait(t, checkTimeout, exitInterrupted)
	must(t, mentions(up.Output.String(), "refit watch"))
	c.RunRefit(t, "watch", o.name)
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	c.NoCordonLeft(t, c.first.Name())
	_, err = c.Kubectl(t.Context(), nil, "uncordon", c.first.Name())
	must(t, err)
}

// Changes to the defaults of an operation.

func approvalRequired(spec *refitv1alpha1.ClusterUpgradeSpec) {
	spec.Approval = refitv1alpha1.ApprovalRequired
}

func workersOnly(spec *refitv1alpha1.ClusterUpgradeSpec) {
	spec.Scope = refitv1alpha1.ScopeWorkers
}

// only restricts an operation to one worker.
func only(n *cluster.Node) change {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		spec.Scope, spec.NodeSelector = refitv1alpha1.ScopeWorkers, refitv1alpha1.Labels{"kubernetes.io/hostname": n.Name()}
	}
}
