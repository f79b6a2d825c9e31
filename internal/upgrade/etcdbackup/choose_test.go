package etcdbackup

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

var now = time.Date(2026, 11, 16, 3, 0, 0, 0, time.UTC)

// member is a control plane node whose agent has just reported a healthy follower.
func member(name string, changes ...func(*cluster.Node)) cluster.Node {
	n := cluster.Node{
		Name: name, UID: "cp-uid", ControlPlane: true, Ready: cluster.Yes, ReportRequest: now.Unix(),
		Report: &refitv1alpha1.NodeReportStatus{
			Answered: now.Unix(), NodeUID: "cp-uid", OrderFormat: 2, MachineID: strings.Repeat("a", 32),
			Etcd: &refitv1alpha1.EtcdFacts{Name: name, Healthy: true, Members: []string{"cp-1", "cp-2", "cp-3"}},
		},
	}
	for _, change := range changes {
		change(&n)
	}
	return n
}

func ordered(permit refitv1alpha1.Permit, phase refitv1alpha1.NodePhase, changes ...func(*cluster.Upgrade)) func(*cluster.Node) {
	return func(n *cluster.Node) {
		at := metav1.NewTime(now.Add(-time.Minute))
		n.Upgrade = &cluster.Upgrade{Generation: 4}
		n.Upgrade.Spec = refitv1alpha1.NodeUpgradeSpec{NodeUID: "cp-uid", Sequence: 7, Epoch: 2, Permit: permit, OrderTime: &at}
		n.Upgrade.Status.ObservedSequence, n.Upgrade.Status.Phase = 7, phase
		for _, change := range changes {
			change(n.Upgrade)
		}
	}
}

func leads(n *cluster.Node) { n.Report.Etcd.Leader = true }

// external is an external etcd whose first member leads. Without followers, only the leader is
// healthy.
func external(healthy int, followers bool) func(*cluster.Node) {
	return func(n *cluster.Node) {
		n.Report.Etcd = nil
		n.Report.ExternalEtcd = &refitv1alpha1.ExternalEtcdFacts{Members: []refitv1alpha1.ExternalEtcdMember{
			{Name: "etcd-1", Leader: true}, {Name: "etcd-2", Healthy: followers}, {Name: "etcd-3", Healthy: followers},
		}}
		n.Report.ExternalEtcd.Members[healthy].Healthy = true
	}
}

func TestUnsuitableNodes(t *testing.T) {
	for situation, tt := range map[string]struct {
		change func(*cluster.Node)
		why    string // a part of it; empty if the node is suitable
	}{
		"a healthy follower":    {func(*cluster.Node) {}, ""},
		"the leader":            {leads, "leader"},
		"the only member":       {func(n *cluster.Node) { leads(n); n.Report.Etcd.Members = []string{"cp-1"} }, ""},
		"a learner":             {func(n *cluster.Node) { n.Report.Etcd.Learner = true }, "learner"},
		"an unhealthy member":   {func(n *cluster.Node) { n.Report.Etcd.Healthy = false }, "unhealthy"},
		"no etcd member":        {func(n *cluster.Node) { n.Report.Etcd = nil }, "no etcd member"},
		"external etcd":         {external(1, true), ""},
		"only external leaders": {external(0, false), "no healthy follower"},
		"an external etcd of one": {func(n *cluster.Node) {
			external(0, true)(n)
			n.Report.ExternalEtcd.Members = n.Report.ExternalEtcd.Members[:1]
		}, ""},
		"not ready":              {func(n *cluster.Node) { n.Ready = cluster.No }, "not ready"},
		"no agent":               {func(n *cluster.Node) { n.Report = nil }, "has not reported"},
		"the report of a former": {func(n *cluster.Node) { n.Report.NodeUID = "other" }, "has not reported"},
		"an old agent":           {func(n *cluster.Node) { n.Report.OrderFormat = 1 }, "order format 1"},
		"a silent agent":         {func(n *cluster.Node) { n.Report.Answered-- }, "has not answered"},
		"an old report":          {func(n *cluster.Node) { n.ReportRequest, n.Report.Answered = now.Unix()-600, now.Unix()-600 }, "has not answered"},
		"prefetched":             {ordered(refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched), ""},
		"prefetching":            {ordered(refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetching), "prefetching"},
		"upgraded":               {ordered(refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded), ""},
		"being upgraded":         {ordered(refitv1alpha1.PermitApply, refitv1alpha1.NodeApplying), "partly changed"},
		"an order not yet seen":  {ordered(refitv1alpha1.PermitApply, "", func(u *cluster.Upgrade) { u.Spec.Sequence = 8 }), "not answered"},
		"partly changed": {ordered(refitv1alpha1.PermitHold, refitv1alpha1.NodeFailed, func(u *cluster.Upgrade) {
			u.Status.Steps = []refitv1alpha1.StepStatus{{Name: node.StepEtcd, State: refitv1alpha1.StepFailed}}
		}), "partly changed"},
		"another backup": {ordered(refitv1alpha1.PermitBackup, refitv1alpha1.NodeIdle, func(u *cluster.Upgrade) {
			u.Spec.Backup = refitv1alpha1.BackupRef{Name: "other", UID: "u", Attempt: 1}
		}), "takes EtcdBackup other"},
	} {
		n := member("cp-1", tt.change)
		if got := Unsuitable(&n, false, now); (got == "") != (tt.why == "") || !strings.Contains(got, tt.why) {
			t.Errorf("%s: %q", situation, got)
		}
	}
	n := member("cp-1")
	if Unsuitable(&n, true, now) == "" {
		t.Error("a node that an upgrade has claimed is suitable")
	}
}

func TestAnotherNodeIsChosenAfterAFailure(t *testing.T) {
	nodes := []cluster.Node{member("cp-1", leads), member("cp-2"), member("cp-3"), {Name: "worker-1", Ready: cluster.Yes}}
	for avoid, want := range map[string]string{"": "cp-2", "cp-2": "cp-3", "cp-3": "cp-2"} {
		if got, why := Choose(nodes, nil, nil, avoid, now); got == nil || got.Name != want {
			t.Errorf("after %q: %v, want %s (%s)", avoid, got, want, why)
		}
	}
	if got, _ := Choose(nodes[:2], nil, nil, "cp-2", now); got == nil || got.Name != "cp-2" {
		t.Errorf("the only suitable node is not chosen again: %v", got)
	}
	if got, why := Choose(nodes[:1], nil, nil, "", now); got != nil || !strings.Contains(why, "cp-1: its etcd member is the leader") {
		t.Errorf("got %v: %s", got, why)
	}
}
