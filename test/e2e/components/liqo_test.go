//go:build e2e

package components

import (
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestComponentsLiqo upgrades Liqo with Kubernetes in one of two peered clusters. The first attempt
// fails in the last wave and is rolled back; during the second one, the leader of refit-components
// is killed.
//
// The kernel of the testbed has neither Geneve nor WireGuard, so the clusters are peered without
// networking: no gateways exist, and traffic between pods of both clusters is not tested. The
// recipe touches no gateway then.
func TestComponentsLiqo(t *testing.T) {
	begun := time.Now()
	p := newPeering(t, cluster.Spec{Name: "celiqo", Workers: 1, Kubernetes: older}, cluster.Spec{Name: "celiqopeer", Kubernetes: older})
	p.offload(t)
	p.runsRemotely(t, "before")
	t.Logf("both clusters, Refit and the peering after %.0f s", time.Since(begun).Seconds())

	r := p.CreateComponentsRelease(t, newer, p.liqoComponentsFile(t), p.archives()...)
	peer := p.provider.Name()
	p.adoptLiqo(t, liqoValues(p.Cluster))
	p.blockedBy(t, "PeerUnknown", peer)
	p.adoptLiqo(t, liqoValues(p.Cluster), peer+"=v1.0.1")
	p.blockedBy(t, "PeerIncompatible", peer)
	fits := peer + "=" + tagOf(p.before[liqo])
	p.adoptLiqo(t, brokenHandler(p.Cluster), fits)
	p.offered(t, liqo)
	before := p.peeringObjects(t)
	planning := time.Now()
	plan := p.RunRefit(t, "plan", "--to", newer)
	show(t, "liqo_plan", time.Since(planning).Seconds(), "s")
	t.Log(plan)

	user, ofLiqo := admit(t, p.Objects, p.virtualNode()), admit(t, p.asLiqo(t), p.virtualNode())
	up := p.Upgrade(t, newer)
	p.liqoIsRolledBack(t, before)
	p.wasFrozen(t, liqo, user)
	p.wasNeverFrozen(t, liqo, ofLiqo)

	p.adoptLiqo(t, liqoValues(p.Cluster), fits)
	p.offered(t, liqo)
	must(t, mentions(p.RunRefit(t, "retry"), "component liqo at wave-rest"))
	changed := p.reaches(t, refitv1alpha1.PhaseAwaitingApproval) // the plan covers the values
	p.RunRefit(t, "approve", "--plan", changed.Status.Plan.ProposedHash)
	p.killLeaderAt(t, liqo, "wave-controllers")
	up.Wait(t, whole, bed.ExitDone)

	p.liqoIsUpgraded(t, before)
	frozen := p.wasFrozen(t, liqo, user)
	p.wasNeverFrozen(t, liqo, ofLiqo)
	p.IsAt(t, r)
	p.showMemory(t)
	show(t, "liqo_upgrade", p.showSteps(t, liqo), "s")
	show(t, "liqo_frozen", frozen.Seconds(), "s")
	show(t, "liqo_test", time.Since(begun).Seconds(), "s")
}

// liqoIsRolledBack checks the operation whose upgrade of Liqo has failed.
func (p *peering) liqoIsRolledBack(t *testing.T, before map[string]string) {
	t.Helper()
	u := p.reaches(t, refitv1alpha1.PhaseStalled)
	t.Logf("%s: %s", u.Status.Phase, u.Status.Message)
	must(t, mentions(u.Status.Message, "Component liqo failed and was rolled back at wave-rest", "RuntimeClass"))
	order := p.upgrade(t, liqo)
	if order.Status.Phase != refitv1alpha1.ComponentRolledBack || order.Status.Frozen != nil || len(order.Status.Left) > 0 {
		t.Errorf("the journal is %+v", order.Status)
	}
	show(t, "liqo_rolled_back", p.showSteps(t, liqo), "s")
	p.isHealthyAt(t, p.before[liqo].Version, before)
	if handler := p.kubectl(t, "", "get", "runtimeclass", liqo, "--output=jsonpath={.handler}"); string(handler) != liqo {
		t.Errorf("the handler is %q", handler)
	}
}

// liqoIsUpgraded checks Liqo after the operation.
func (p *peering) liqoIsUpgraded(t *testing.T, before map[string]string) {
	t.Helper()
	u := p.reaches(t, refitv1alpha1.PhaseSucceeded)
	if order := p.upgrade(t, liqo); order.Status.Phase != refitv1alpha1.ComponentSucceeded || order.Status.Frozen != nil || len(order.Status.Left) > 0 {
		t.Errorf("the journal is %+v", order.Status)
	}
	for _, stage := range u.Status.Plan.Stages {
		if stage.CompletionTime == nil || stage.Done != stage.Total {
			t.Errorf("the stage %s is not complete: %+v", stage.Name, stage)
		}
	}
	p.isHealthyAt(t, p.after[liqo].Version, before)
	p.runsRemotely(t, "after")
	onVirtualNode := "--field-selector=spec.nodeName=" + p.provider.Name()
	if pods := p.kubectl(t, "", "get", "pods", "--namespace=kube-system", onVirtualNode, "--output=name"); len(pods) > 0 {
		t.Errorf("the virtual node has the pods %s", pods)
	}
}

// isHealthyAt checks that Liqo works in a version, that its objects were kept, and that nothing is
// frozen.
func (p *peering) isHealthyAt(t *testing.T, version string, before map[string]string) {
	t.Helper()
	p.has(t, liqo, "liqo-"+version)
	p.nothingFrozen(t)
	p.creates(t, p.virtualNode())
	p.patchedTo(t, version)
	must(t, until(t.Context(), "Liqo to run images of "+version+" only", checkTimeout, p.runsOnly("v"+version)))
	must(t, until(t.Context(), "the virtual node to be ready", checkTimeout, p.virtualNodeReady))
	after := p.peeringObjects(t)
	must(t, unchanged(before, after))
	show(t, "liqo_objects_kept_"+strings.ReplaceAll(version, ".", "_"), float64(len(after)), "objects")
	must(t, p.isRemote(t.Context(), "before"))
}

// wasNeverFrozen fails if the last upgrade of a component denied anything to a client.
func (s *site) wasNeverFrozen(t *testing.T, component string, a *admissions) {
	t.Helper()
	status := s.upgrade(t, component).Status
	all, failed := a.between(status.StartTime.Time, status.CompletionTime.Time)
	for _, result := range failed {
		t.Errorf("a request of a ServiceAccount that is exempt failed: %v", result.err)
	}
	if all == 0 {
		t.Error("nothing was requested")
	}
}
