//go:build apiserver

package controller

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestAnUpgradeIsRecordedInEvents(t *testing.T) {
	b := newBed(t)
	b.controllers()
	b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) { o.Spec.Approval = refitv1alpha1.ApprovalRequired })
	planned := b.until(op, "waits for approval", phase(refitv1alpha1.PhaseAwaitingApproval))
	if n := b.hosts.began("worker-1", "check-host"); n != 0 {
		t.Error("a host was changed before the plan was approved")
	}
	b.says(`{"approvedPlan":"` + planned.Status.Plan.Hash + `"}`)
	done := b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
	if counts := done.Status.Nodes; counts.Done != 7 || counts.Total != 7 {
		t.Errorf("it counts %+v", counts)
	}
	ready, slot := "it runs v1.36.3 and is ready", "1 of 1 slots of pool default"
	b.tells("ClusterUpgrade", op,
		"Planned: Plan from v1.35.4 to v1.36.3, estimated ", "AwaitingApproval: ", "Approved: Approved plan sha256:", "Prefetching: Prefetching v1.36.3 on 7 nodes", "Prefetched: ",
		"NodeSelected: cp-2: it is the next control plane node", "Done: cp-2: "+ready, "NodeSelected: cp-3: ", "Done: cp-3: "+ready,
		"NodeSelected: cp-1: it holds the API endpoint's address, so it is last", "Done: cp-1: "+ready,
		"NodeSelected: worker-1: "+slot, "Done: worker-1: "+ready, "NodeSelected: worker-4: "+slot, "Done: worker-4: "+ready,
		"NodeSelected: worker-2: "+slot, "Done: worker-2: "+ready, "NodeSelected: worker-3: "+slot, "Done: worker-3: "+ready,
		"Succeeded: every node of the plan is healthy at the target")
	b.tells("Node", "worker-3", "NodeSelected: "+slot, "Cordoned: ", "Draining: ", "Drained: ", "Upgrading: ", "Uncordoned: "+ready, "Done: "+ready)
}
