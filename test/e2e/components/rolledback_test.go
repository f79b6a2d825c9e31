//go:build e2e

package components

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// isRolledBack checks an operation whose component did not pass its verification: it is stalled,
// names the remedy, and the component is as it was, with its CRD.
func (s *site) isRolledBack(t *testing.T, before map[string]string) {
	t.Helper()
	u := s.reaches(t, refitv1alpha1.PhaseStalled)
	t.Logf("%s: %s", u.Status.Phase, u.Status.Message)
	must(t, mentions(u.Status.Message, "Component made failed while verifying that everything is ready, and was rolled back", "made-check"))
	if len(u.Status.Failures) != 1 || u.Status.Failures[0].Component != made || !strings.Contains(u.Status.Failures[0].Remedy, "refit retry") {
		t.Errorf("the failures are %+v", u.Status.Failures)
	}
	must(t, mentions(s.RunRefit(t, "status"), "rolled back", "refit retry"))
	order := s.upgrade(t, made)
	if order.Status.Phase != refitv1alpha1.ComponentRolledBack || order.Status.Frozen != nil || len(order.Status.Left) > 0 {
		t.Errorf("the journal is %+v", order.Status)
	}
	show(t, "components_rolled_back", order.Status.CompletionTime.Sub(order.Status.StartTime.Time).Seconds(), "s")

	s.has(t, made, "made-1.0.0")
	s.nothingFrozen(t)
	s.creates(t, thing)
	must(t, unchanged(before, s.userObjects(t)))
	left := string(s.kubectl(t, "", "get", "configmaps,jobs,pods,deployments", "--namespace="+made, "--output=name"))
	if strings.Contains(left, "only-2") || strings.Contains(left, "check") || !strings.Contains(left, "only-1") {
		t.Errorf("the objects of the component are\n%s", left)
	}
	if version := s.kubectl(t, "", "get", "crd", things, "--output=jsonpath={.spec.versions[*].name} {.status.storedVersions}"); string(version) != `v1 ["v1"]` {
		t.Errorf("the CRD has %s", version)
	}
	for _, n := range s.Nodes() {
		must(t, s.NodeAt(t.Context(), n, older))
	}
}
