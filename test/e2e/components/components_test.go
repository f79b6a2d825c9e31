//go:build e2e

package components

import (
	"fmt"
	"slices"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestComponents upgrades the components of a small cluster with Kubernetes.
func TestComponents(t *testing.T) {
	upgradeWithKubernetes(t, cluster.Spec{Name: "cesmall", Workers: 1, Kubernetes: older}, metricsServer, lws, kueue)
}

// TestComponentsHighlyAvailable upgrades the components of a cluster with three control planes, and
// Liqo, which has no peers there.
func TestComponentsHighlyAvailable(t *testing.T) {
	upgradeWithKubernetes(t, cluster.Spec{Name: "ceha", ControlPlanes: 3, Workers: 2, Kubernetes: older}, metricsServer, lws, kueue, liqo)
}

// upgradeWithKubernetes upgrades components that a user has installed with Helm. The first attempt
// fails in the verification of one of them and is rolled back; the second one succeeds.
func upgradeWithKubernetes(t *testing.T, spec cluster.Spec, addons ...string) {
	t.Helper()
	begun := time.Now()
	s := newSite(t, spec, addons...)
	s.installCharts(t)
	r := s.CreateComponentsRelease(t, newer, s.componentsFile(t), s.archives()...)
	s.adopt(t, "wrong")
	components := append([]string{made, fluxed}, addons...)
	s.offered(t, components...)
	before := s.userObjects(t)
	t.Logf("cluster, Refit and add-ons after %.0f s", time.Since(begun).Seconds())

	planning := time.Now()
	plan := s.RunRefit(t, "plan", "--to", newer)
	took := time.Since(planning).Seconds()
	t.Log(plan)
	show(t, "components_plan", took, "s")
	if took > 5 {
		t.Errorf("the plan took %.1f s", took)
	}

	frozen, admitted := s.admitThings(t), s.admitSets(t)
	up := s.Upgrade(t, newer)
	s.isRolledBack(t, before)
	s.wasFrozen(t, made, frozen)
	s.adopt(t, "hello")
	s.offered(t, components...)
	must(t, mentions(s.RunRefit(t, "retry"), "component made"))
	changed := s.reaches(t, refitv1alpha1.PhaseAwaitingApproval) // the plan covers the values
	s.RunRefit(t, "approve", "--plan", changed.Status.Plan.ProposedHash)
	up.Wait(t, whole, bed.ExitDone)
	show(t, "components_upgrade", time.Since(up.Started).Seconds(), "s")

	s.isUpgraded(t, before)
	s.wasFrozen(t, made, frozen)
	s.IsAt(t, r)
	s.showFigures(t, admitted)
	show(t, "components_test", time.Since(begun).Seconds(), "s")
}

// isUpgraded checks every component after the operation.
func (s *site) isUpgraded(t *testing.T, before map[string]string) {
	t.Helper()
	u := s.reaches(t, refitv1alpha1.PhaseSucceeded)
	must(t, inOrder(u.Status.Plan.Stages))
	s.has(t, made, "made-2.0.0")
	for name, addon := range s.after {
		s.has(t, name, name+"-"+addon.Version)
	}
	if addon, has := s.after[liqo]; has {
		must(t, until(t.Context(), "Liqo to run its new images only", checkTimeout, s.runsOnly(tagOf(addon))))
	}
	if got, want := s.releases(t)[fluxed], s.installed[fluxed]; got != want {
		t.Errorf("the release of Flux is %+v, want %+v", got, want)
	}
	after := s.userObjects(t)
	must(t, unchanged(before, after))
	show(t, "components_objects_kept", float64(len(after)), "objects")
	s.nothingFrozen(t)
	s.creates(t, thing)

	args := s.kubectl(t, "", "get", "deployment", metricsServer, "--namespace=kube-system", "--output=jsonpath={.spec.template.spec.containers[0].args}")
	must(t, mentions(string(args), "--kubelet-insecure-tls", "--metric-resolution=20s"))
	values := s.run(t, "get", "values", metricsServer, "--namespace=kube-system", "--output=json")
	must(t, mentions(string(values), "--metric-resolution=20s"))
	must(t, until(t.Context(), "metrics of the nodes", checkTimeout, s.hasMetrics))
	must(t, until(t.Context(), "the set to run", checkTimeout, s.setRuns))
	s.admitsJob(t, "after")
}

// inOrder returns an error unless components changed before and after the control plane.
func inOrder(stages []refitv1alpha1.StageSummary) error {
	want := []refitv1alpha1.StageName{
		refitv1alpha1.StageComponentsBefore, refitv1alpha1.StageControlPlane, refitv1alpha1.StageComponents, refitv1alpha1.StageWorkers,
	}
	var last time.Time
	for _, name := range want {
		at := slices.IndexFunc(stages, func(s refitv1alpha1.StageSummary) bool { return s.Name == name })
		if at < 0 || stages[at].StartTime == nil || stages[at].CompletionTime == nil || stages[at].Done != stages[at].Total {
			return fmt.Errorf("the stage %s is not complete: %+v", name, stages)
		}
		if stages[at].StartTime.Time.Before(last) {
			return fmt.Errorf("the stage %s started at %s, before the previous one ended at %s", name, stages[at].StartTime, last)
		}
		last = stages[at].CompletionTime.Time
	}
	return nil
}
