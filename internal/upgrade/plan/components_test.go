package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// components are two installed components and one that is not. The first runs on two minor versions
// of Kubernetes.
func components(s *cluster.Snapshot) {
	for i := range s.Releases {
		r := &s.Releases[i]
		minor := minorOf(r.Payload.Kubernetes) - 35
		r.Components = []refitv1alpha1.ReleaseComponent{
			{Name: "gateway", Version: fmt.Sprintf("v1.%d.0", minor), Fits: inStep("v1.35.4")},
			{Name: "mesh", Version: "v2.1.0", Needs: []string{"queue"}},
			{Name: "queue", Version: "0.15.0"},
		}
	}
	s.Components = []cluster.Component{
		installedComponent(s, "gateway", "v1.0.0", "v1.1.0", "v1.35.4"), installedComponent(s, "mesh", "v2.0.0", "v2.1.0", "v1.36.3"),
		installedComponent(s, "queue", "", "0.15.0", "v1.36.3"),
	}
}

func installedComponent(s *cluster.Snapshot, name, version, offered, kubernetes string) cluster.Component {
	c := cluster.Component{Name: name, Manage: refitv1alpha1.ManageRefit, ByRefit: version != "", Status: refitv1alpha1.ComponentStatus{Owner: refitv1alpha1.OwnerNone}}
	offer := refitv1alpha1.ComponentOffer{
		Version: offered, Action: refitv1alpha1.ActionInstall, Kubernetes: kubernetes, Digest: "sha256:" + strings.Repeat("a", 64),
		Release: refitv1alpha1.ReleaseRef{Name: s.Releases[0].Name, Digest: s.Releases[0].Digest},
		Changes: refitv1alpha1.ObjectChanges{Create: 2, Change: 7, Delete: 1}, Deletes: []string{"ConfigMap " + name + "/old"},
	}
	if version != "" {
		c.Status.Owner, offer.Action = refitv1alpha1.OwnerRefit, refitv1alpha1.ActionUpgrade
		c.Status.Installed = &refitv1alpha1.InstalledComponent{Version: version, Namespace: name, Name: name, Revision: 3}
	}
	c.Status.Offers = []refitv1alpha1.ComponentOffer{offer}
	return c
}

// orderedComponent is the order of the operation for version v1.1.0 of gateway, in a phase.
func orderedComponent(phase refitv1alpha1.ComponentPhase) clustertest.Change {
	return func(s *cluster.Snapshot) {
		spec := refitv1alpha1.ComponentUpgradeSpec{
			Operation: refitv1alpha1.Operation{UID: types.UID(s.Operation.UID)}, Sequence: 1, Version: "v1.1.0", Action: refitv1alpha1.ActionUpgrade,
			Permit: refitv1alpha1.PermitApply, Release: refitv1alpha1.ReleaseRef{Name: s.Releases[0].Name, Digest: s.Releases[0].Digest},
		}
		steps := []refitv1alpha1.StepStatus{{Name: "crds", State: refitv1alpha1.StepDone}}
		s.ComponentUpgrades = []cluster.ComponentUpgrade{{Name: "gateway", Spec: spec, Status: refitv1alpha1.ComponentUpgradeStatus{Phase: phase, ObservedSequence: 1, Steps: steps}}}
	}
}

func onComponents(change func(*cluster.Component)) clustertest.Change {
	return func(s *cluster.Snapshot) {
		for i := range s.Components {
			change(&s.Components[i])
		}
	}
}

// now is a component after its upgrade: another offer, or none.
func nowAt(name, version string) clustertest.Change {
	return onComponents(func(c *cluster.Component) {
		if c.Name == name {
			installed := *c.Status.Installed
			installed.Version = version
			c.Status.Installed, c.Status.Offers = &installed, nil
		}
	})
}

func TestTheHashCoversComponents(t *testing.T) {
	base := func(changes ...clustertest.Change) *cluster.Snapshot {
		return clustertest.HA("v1.35.4", 3, 2, append([]clustertest.Change{clustertest.Agents(), clustertest.Released("v1.36.3"), components}, changes...)...)
	}
	was, err := Make(base(), to("v1.36.3"))
	if err != nil {
		t.Fatal(err)
	}
	offers := func(change func(*refitv1alpha1.ComponentOffer)) clustertest.Change {
		return onComponents(func(c *cluster.Component) {
			c.Status.Offers = slices.Clone(c.Status.Offers)
			for i := range c.Status.Offers {
				change(&c.Status.Offers[i])
			}
		})
	}
	otherDigest := offers(func(o *refitv1alpha1.ComponentOffer) { o.Digest = "sha256:" + strings.Repeat("b", 64) })
	for situation, test := range map[string]struct {
		cluster *cluster.Snapshot
		spec    refitv1alpha1.ClusterUpgradeSpec
		same    bool
	}{
		"nothing changed":                        {base(), to("v1.36.3"), true},
		"the plan is recorded":                   {base(recorded(was)), to("v1.36.3"), true},
		"a component is being upgraded":          {base(recorded(was), orderedComponent(refitv1alpha1.ComponentApplying)), to("v1.36.3"), true},
		"a component was upgraded":               {base(recorded(was), nowAt("gateway", "v1.1.0"), orderedComponent(refitv1alpha1.ComponentSucceeded)), to("v1.36.3"), true},
		"its order was deleted":                  {base(recorded(was), nowAt("gateway", "v1.1.0")), to("v1.36.3"), true},
		"a component changes otherwise":          {base(otherDigest), to("v1.36.3"), false},
		"its offer is being computed again":      {base(recorded(was), onComponents(func(c *cluster.Component) { c.Status.Offers = nil })), to("v1.36.3"), true},
		"it does so before its order":            {base(recorded(was), otherDigest), to("v1.36.3"), false},
		"it was upgraded by hand to a new one":   {base(recorded(was), nowAt("gateway", "v1.1.7")), to("v1.36.3"), false},
		"its offer is for an older Kubernetes":   {base(offers(func(o *refitv1alpha1.ComponentOffer) { o.Kubernetes = "v1.35.1" })), to("v1.36.3"), false},
		"another tool manages the components":    {base(onComponents(func(c *cluster.Component) { c.Manage = refitv1alpha1.ManageObserve })), to("v1.36.3"), false},
		"the components are waived":              {base(), waiving(to("v1.36.3"), policy.CheckComponentsMissing, ""), false},
		"a ClusterRelease without components":    {base(func(s *cluster.Snapshot) { s.Releases[0].Components = nil }), to("v1.36.3"), false},
		"counts of changes without their digest": {base(offers(func(o *refitv1alpha1.ComponentOffer) { o.Changes.Create++ })), to("v1.36.3"), true},
	} {
		t.Run(situation, func(t *testing.T) {
			p, err := Make(test.cluster, test.spec)
			if err != nil {
				t.Fatal(err)
			}
			if (p.Hash == was.Hash) != test.same {
				t.Errorf("the hash is the same: %t, want %t", p.Hash == was.Hash, test.same)
			}
		})
	}
}

// What is installed does not matter if no ClusterRelease of the path has components.
func TestAPlanWithoutComponentsIsAsBefore(t *testing.T) {
	without := clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"))
	with := clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"), components, func(s *cluster.Snapshot) { s.Releases[0].Components = nil })
	want, err := Make(without, to("v1.36.3"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Make(with, to("v1.36.3"))
	if err != nil {
		t.Fatal(err)
	}
	// The hash of a version of Refit that has no components.
	const hash = "sha256:3c78bf5e32bd5a1e9896a114c1b498235f28aca4af156a16bd1cc73afa94a0f8"
	if got.Hash != want.Hash || got.Hash != hash || planText(got) != planText(want) {
		t.Errorf("the plan is %s\n%s\nwant %s\n%s", got.Hash, planText(got), hash, planText(want))
	}
}

func BenchmarkPlanWithTenComponents(b *testing.B) {
	s := clustertest.HA("v1.35.4", 3, 100, clustertest.Released("v1.36.3"), components)
	for i := range 7 {
		name := fmt.Sprintf("extra-%d", i)
		s.Releases[0].Components = append(s.Releases[0].Components, refitv1alpha1.ReleaseComponent{Name: name, Version: "v2.0.0"})
		s.Components = append(s.Components, installedComponent(s, name, "v1.0.0", "v2.0.0", "v1.36.3"))
	}
	for b.Loop() {
		if p, err := Make(s, to("v1.36.3")); err != nil || len(p.components) != 10 {
			b.Fatalf("%d steps, error %v", len(p.components), err)
		}
	}
}

func TestRemedyOfAnOrderThatIsRefused(t *testing.T) {
	order := &cluster.ComponentUpgrade{Name: "queue", Generation: 2}
	refuse := func(reason string) string {
		order.Status.Conditions = []metav1.Condition{{
			Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: reason, Message: "it is busy", ObservedGeneration: 2,
		}}
		return componentFailure(order).Remedy
	}
	if got := refuse(component.RefusedBusy); !strings.Contains(got, "kubectl delete componentupgrade queue") {
		t.Errorf("the upgrade of an operation that ended cannot be retried: %q", got)
	}
	if got := refuse(component.RefusedEpoch); !strings.Contains(got, "refit retry") {
		t.Errorf("another reason: %q", got)
	}
}

func TestAFailureReportsThatTheComponentWasRolledBack(t *testing.T) {
	for phase, want := range map[refitv1alpha1.ComponentPhase]string{
		refitv1alpha1.ComponentFailed: "Job check failed", refitv1alpha1.ComponentRolledBack: "Job check failed; it was rolled back",
	} {
		s := clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"), components, func(s *cluster.Snapshot) { s.Operation = &cluster.Operation{UID: "1"} },
			orderedComponent(phase), func(s *cluster.Snapshot) {
				s.ComponentUpgrades[0].Status.Error = &refitv1alpha1.NodeError{Step: "verify", Message: "Job check failed"}
			})
		if got := (&view{s: s, op: s.Operation}).componentFailures(); len(got) != 1 || got[0].Message != want {
			t.Errorf("the failures of a component that is %s are %+v, want %q", phase, got, want)
		}
	}
}

// The pause between two steps of the last upgrade is not expected again.
func TestTheEstimateOfAComponentHasNoPauses(t *testing.T) {
	s := clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3"), components, func(s *cluster.Snapshot) { s.Operation = &cluster.Operation{UID: "1"} },
		orderedComponent(refitv1alpha1.ComponentSucceeded))
	at := func(minutes int) *metav1.Time {
		out := metav1.NewTime(simulationStart.Add(time.Duration(minutes) * time.Minute))
		return &out
	}
	status := &s.ComponentUpgrades[0].Status
	status.StartTime, status.CompletionTime = at(0), at(605)
	status.Steps = []refitv1alpha1.StepStatus{
		{Name: "crds", State: refitv1alpha1.StepDone, StartTime: at(0), CompletionTime: at(2)},
		{Name: "wave-rest", State: refitv1alpha1.StepDone, StartTime: at(600), CompletionTime: at(605)},
	}
	if got := (&planner{snapshot: s}).componentEstimate("gateway"); got != (Estimate{Expected: 7 * time.Minute, Observed: true}) {
		t.Errorf("the estimate is %+v", got)
	}
	status.Phase = refitv1alpha1.ComponentFailed
	if got := (&planner{snapshot: s}).componentEstimate("gateway"); got.Observed {
		t.Errorf("the estimate of a failed upgrade is %+v", got)
	}
}
