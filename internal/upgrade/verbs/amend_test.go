package verbs

import (
	"errors"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestAmend(t *testing.T) {
	waiver := refitv1alpha1.Waiver{Check: "BudgetNeverAllows", Reason: "scaled down"}
	operation := func() Operation {
		u := &refitv1alpha1.ClusterUpgrade{}
		u.Name, u.Spec.Target.Kubernetes, u.Spec.Waivers = "op", "v1.36.3", []refitv1alpha1.Waiver{waiver}
		return Operation{ClusterUpgrade: u, Command: "refit"}
	}
	for situation, c := range map[string]struct {
		amendment Amendment
		message   string
		changed   bool
	}{
		"the same values":      {Amendment{Waivers: []refitv1alpha1.Waiver{waiver}, Rollback: refitv1alpha1.RollbackAuto}, "op has these values already.", false},
		"no waivers any more":  {Amendment{Waivers: []refitv1alpha1.Waiver{}}, "Changed waivers of op. The plan changes with it", true},
		"a rollback by a user": {Amendment{Rollback: refitv1alpha1.RollbackManual}, "Changed rollback of op.", true},
		"a pool":               {Amendment{Pools: []refitv1alpha1.Pool{{Name: "batch", NodeSelector: refitv1alpha1.Labels{"pool": "batch"}}}}, "Changed pools of op. The plan", true},
	} {
		t.Run(situation, func(t *testing.T) {
			o := operation()
			d, err := Amend(o, c.amendment)
			if err != nil || (d.Change != nil) != c.changed || !strings.HasPrefix(d.Message, c.message) {
				t.Fatalf("%q, %v", d.Message, err)
			}
			if d.Change == nil {
				return
			}
			if d.Change(&o.Spec); len(c.amendment.apply(&o.Spec)) > 0 {
				t.Errorf("the spec is %+v", o.Spec)
			}
		})
	}
	_, err := Amend(operation(), Amendment{Waivers: []refitv1alpha1.Waiver{{Check: "X"}}})
	if _, is := errors.AsType[InvalidError](err); !is {
		t.Errorf("a waiver without a reason: %v", err)
	}
	aborted := operation()
	aborted.Spec.Aborted = true
	if _, err := Amend(aborted, Amendment{Rollback: refitv1alpha1.RollbackManual}); err == nil {
		t.Error("an aborted operation was changed")
	}
}
