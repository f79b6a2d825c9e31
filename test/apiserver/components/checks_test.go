//go:build apiserver

package components

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// withChecks adds checks about the objects of the made chart.
func withChecks(checks ...refitv1alpha1.ComponentCheck) func(*refitv1alpha1.ReleaseComponent) {
	return func(c *refitv1alpha1.ReleaseComponent) {
		for i := range checks {
			check := checks[i]
			check.Objects.Kind = strings.ReplaceAll(check.Objects.Kind, "NAME", c.Name)
			c.Checks = append(c.Checks, check)
		}
	}
}

// small requires that no Thing is large.
func small() refitv1alpha1.ComponentCheck {
	return refitv1alpha1.ComponentCheck{
		Name: "no-large-things", Objects: refitv1alpha1.CheckedObjects{Kind: "Thing.NAME.test", Version: "v1"},
		Rule: "object.spec.size <= 3 || from != '1.0.0' || to != '2.0.0'", Message: "the thing is too large", Remedy: "Make it smaller",
	}
}

// resize sets the size of a Thing.
func (m *made) resize(name, size string) {
	m.t.Helper()
	thing := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": m.name + ".test/v1", "kind": "Thing", "metadata": map[string]any{"name": name, "namespace": m.name},
	}}
	patch := []byte(`{"spec":{"size":` + size + `}}`)
	must(m.t, m.client.Patch(m.t.Context(), thing, client.RawPatch(types.MergePatchType, patch)))
}

// problems returns the problems of checks in the offer.
func (m *made) problems() (found []refitv1alpha1.ComponentProblem) {
	m.t.Helper()
	for _, problem := range m.offer().Problems {
		if strings.HasPrefix(problem.Reason, "Check") {
			found = append(found, problem)
		}
	}
	return found
}

func TestCheckThatFailsUntilTheObjectsAreFixed(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(withChecks(small()))
	m.installOld()
	for _, name := range []string{"second", "third", "fourth", "fifth"} {
		m.thing(name)
		m.resize(name, "7")
	}
	found := m.problems()
	if len(found) != 1 {
		t.Fatalf("the problems are %+v", found)
	}
	want := refitv1alpha1.ComponentProblem{
		Reason: "CheckFailed", Object: "Check " + m.name + "/no-large-things", Remedy: "Make it smaller", Blocks: true,
		Message: "the thing is too large: Thing NAME/fifth, NAME/fourth, NAME/second and 1 more",
	}
	if want.Message = strings.ReplaceAll(want.Message, "NAME", m.name); found[0] != want {
		t.Errorf("the problem is %+v, want %+v", found[0], want)
	}
	for _, name := range []string{"second", "third", "fourth", "fifth"} {
		m.resize(name, "2")
	}
	if found := m.problems(); len(found) > 0 {
		t.Errorf("the problems are %+v", found)
	}
	m.order(m.offer())
	m.ended(refitv1alpha1.ComponentSucceeded)
}

func TestCheckThatFailsAfterThePlan(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(withChecks(small()))
	m.installOld()
	offer := m.offer()
	if blocked(offer) != "" {
		t.Fatalf("the problems are %+v", offer.Problems)
	}
	m.resize("first", "7")
	before := m.state()
	m.order(offer)
	u := m.ended(refitv1alpha1.ComponentFailed)
	if e := u.Status.Error; e == nil || e.Reason != "CheckFailed" || e.Step != "check" || e.Remedy != "Make it smaller" ||
		e.Message != "the thing is too large: Thing "+m.name+"/first" {
		t.Errorf("the error is %+v", u.Status.Error)
	}
	if after := m.state(); after != before {
		t.Errorf("something has changed:\n%s\nbefore:\n%s", after, before)
	}
	m.resize("first", "3")
	m.change(func(s *refitv1alpha1.ComponentUpgradeSpec) { s.Attempt = 1 })
	m.ended(refitv1alpha1.ComponentSucceeded)
}

func TestCheckThatIsWaived(t *testing.T) {
	t.Parallel()
	m := newBed(t).newMade(withChecks(small()))
	m.installOld()
	m.resize("first", "7")
	m.order(m.offer())
	var operation refitv1alpha1.ClusterUpgrade
	must(t, m.client.Get(t.Context(), client.ObjectKey{Name: m.name}, &operation))
	operation.Spec.Waivers = []refitv1alpha1.Waiver{{Check: "CheckFailed", Object: "Check " + m.name + "/no-large-things", Reason: "it is known"}}
	must(t, m.client.Update(t.Context(), &operation))
	m.ended(refitv1alpha1.ComponentSucceeded)
}

// TestChecksOfOffers has checks that are signed, as `refit release create` would not create all of
// them, and the first problem of each.
func TestChecksOfOffers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*refitv1alpha1.ComponentCheck)
		want    string // the reason
		message string
		warns   bool
	}{
		"rule that does not compile": {
			change: func(c *refitv1alpha1.ComponentCheck) { c.Rule = "object." }, want: "CheckInvalid", message: "cannot be evaluated: rule: 1:8: Syntax error",
		},
		"missing field": {
			change: func(c *refitv1alpha1.ComponentCheck) { c.Rule = "object.spec.height > 3" }, want: "CheckInvalid", message: "/first: no such key: height",
		},
		"version that is not served": {
			change: func(c *refitv1alpha1.ComponentCheck) { c.Objects.Version = "v3" }, want: "CheckInvalid", message: "in version v3",
		},
		"kind that cannot be listed": {
			change: func(c *refitv1alpha1.ComponentCheck) {
				c.Objects = refitv1alpha1.CheckedObjects{Kind: "SubjectAccessReview.authorization.k8s.io"}
			},
			want: "CheckInvalid", message: "cannot be listed",
		},
		"kind that does not exist": {
			change: func(c *refitv1alpha1.ComponentCheck) {
				c.Objects, c.Rule = refitv1alpha1.CheckedObjects{Kind: "Nothing.NAME.test"}, "false"
			},
		},
		"list": {
			change: func(c *refitv1alpha1.ComponentCheck) { c.Rule, c.ListRule = "", "objects.size() >= 2" }, want: "CheckFailed", message: "the thing is too large",
		},
		"core group, namespace and selector": {
			change: func(c *refitv1alpha1.ComponentCheck) {
				c.Objects, c.Rule = refitv1alpha1.CheckedObjects{Kind: "Namespace", Selector: "kubernetes.io/metadata.name=default"}, "false"
			},
			want: "CheckFailed", message: "Namespace default",
		},
		"warning": {
			change: func(c *refitv1alpha1.ComponentCheck) { c.Rule, c.Severity = "false", refitv1alpha1.CheckWarns }, want: "CheckFailed", warns: true,
		},
		"of an installation": {
			change: func(c *refitv1alpha1.ComponentCheck) { c.Rule, c.When = "false", refitv1alpha1.CheckOnInstall },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := small()
			test.change(&check)
			m := newBed(t).newMade(withChecks(check))
			m.installOld()
			found := m.problems()
			if test.want == "" {
				if len(found) > 0 {
					t.Errorf("the problems are %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Reason != test.want || !strings.Contains(found[0].Message, test.message) || found[0].Blocks == test.warns || found[0].Remedy == "" {
				t.Errorf("the problems are %+v, want %s with %q", found, test.want, test.message)
			}
		})
	}
}
