package component

import (
	"fmt"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func goodCheck() refitv1alpha1.ComponentCheck {
	return refitv1alpha1.ComponentCheck{
		Name: "no-stopped-queues", Rule: "true", Message: "the queue is stopped", Remedy: "Resume it",
		Objects: refitv1alpha1.CheckedObjects{Kind: "ClusterQueue.kueue.x-k8s.io"},
	}
}

func TestChecksThatAreValid(t *testing.T) {
	for name, change := range map[string]func(*refitv1alpha1.ComponentCheck){
		"as few fields as possible": func(*refitv1alpha1.ComponentCheck) {},
		"kind of the core group":    func(c *refitv1alpha1.ComponentCheck) { c.Objects.Kind = "PersistentVolumeClaim" },
		"all fields": func(c *refitv1alpha1.ComponentCheck) {
			c.When, c.Severity, c.Rule, c.ListRule = refitv1alpha1.CheckOnUpgrade, refitv1alpha1.CheckWarns, "", "true"
			c.Objects.Version, c.Objects.Namespace, c.Objects.Selector = "v1beta2", "kueue-system", "app.kubernetes.io/name in (kueue),!canary"
		},
	} {
		check := goodCheck()
		if change(&check); ValidateChecks([]refitv1alpha1.ComponentCheck{check}) != nil {
			t.Errorf("%s: %v", name, ValidateChecks([]refitv1alpha1.ComponentCheck{check}))
		}
	}
}

func TestChecksThatAreRefused(t *testing.T) {
	for want, change := range map[string]func(*refitv1alpha1.ComponentCheck){
		`checks[1].name: "No"`:                     func(c *refitv1alpha1.ComponentCheck) { c.Name = "No" },
		"checks[1].name: first occurs twice":       func(c *refitv1alpha1.ComponentCheck) { c.Name = "first" },
		"checks[1].rule: it is missing":            func(c *refitv1alpha1.ComponentCheck) { c.Rule = "" },
		"checks[1].listRule: a check has a rule":   func(c *refitv1alpha1.ComponentCheck) { c.ListRule = "true" },
		"checks[1].rule: it has more than":         func(c *refitv1alpha1.ComponentCheck) { c.Rule = strings.Repeat("a", maxCheckRule+1) },
		"checks[1].message: it is missing":         func(c *refitv1alpha1.ComponentCheck) { c.Message = "" },
		"checks[1].message: it has more than 128":  func(c *refitv1alpha1.ComponentCheck) { c.Message = strings.Repeat("ä", 129) },
		"checks[1].remedy: it is missing":          func(c *refitv1alpha1.ComponentCheck) { c.Remedy = "" },
		"checks[1].remedy: it has more than 256":   func(c *refitv1alpha1.ComponentCheck) { c.Remedy = strings.Repeat("ä", 257) },
		`checks[1].when: "Never"`:                  func(c *refitv1alpha1.ComponentCheck) { c.When = "Never" },
		`checks[1].severity: "Info"`:               func(c *refitv1alpha1.ComponentCheck) { c.Severity = "Info" },
		`checks[1].objects.kind: ""`:               func(c *refitv1alpha1.ComponentCheck) { c.Objects.Kind = "" },
		`checks[1].objects.kind: "clusterqueues."`: func(c *refitv1alpha1.ComponentCheck) { c.Objects.Kind = "clusterqueues." },
		"checks[1].objects.kind: a check cannot":   func(c *refitv1alpha1.ComponentCheck) { c.Objects.Kind = "Secret" },
		`checks[1].objects.kind: "Secret."`:        func(c *refitv1alpha1.ComponentCheck) { c.Objects.Kind = "Secret." },
		`checks[1].objects.version: "1"`:           func(c *refitv1alpha1.ComponentCheck) { c.Objects.Version = "1" },
		`checks[1].objects.namespace: "A"`:         func(c *refitv1alpha1.ComponentCheck) { c.Objects.Namespace = "A" },
		"checks[1].objects.selector: ":             func(c *refitv1alpha1.ComponentCheck) { c.Objects.Selector = "a=b=c" },
	} {
		first, second := goodCheck(), goodCheck()
		first.Name = "first"
		change(&second)
		if err := ValidateChecks([]refitv1alpha1.ComponentCheck{first, second}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var many []refitv1alpha1.ComponentCheck
	for i := range MaxChecks + 1 {
		many = append(many, goodCheck())
		many[i].Name = fmt.Sprintf("check-%d", i)
	}
	if err := ValidateChecks(many); err == nil || ValidateChecks(many[1:]) != nil {
		t.Errorf("%d checks: %v", len(many), err)
	}
}

func TestWhenChecksApply(t *testing.T) {
	for when, want := range map[refitv1alpha1.CheckTime][]bool{
		"":                           {true, true, false},
		refitv1alpha1.CheckAlways:    {true, true, false},
		refitv1alpha1.CheckOnInstall: {true, false, false},
		refitv1alpha1.CheckOnUpgrade: {false, true, false},
	} {
		for i, action := range []Action{Install, Upgrade, Remove} {
			if got := Applies(&refitv1alpha1.ComponentCheck{When: when}, action); got != want[i] {
				t.Errorf("%q applies to %s: %v", when, action, got)
			}
		}
	}
}
