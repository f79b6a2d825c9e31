package api

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const config = "../../../config"

// definition is the part of a CRD that these tests read.
type definition struct {
	Spec struct {
		Names    struct{ Kind, Plural string }
		Versions []struct {
			Name   string
			Schema struct {
				OpenAPIV3Schema *shape
			}
		}
	}
}

func (d definition) kind() string { return d.Spec.Names.Kind }
func (d definition) root() *shape {
	return d.Spec.Versions[len(d.Spec.Versions)-1].Schema.OpenAPIV3Schema
}

// shape is the part of a structural schema that these tests read.
type shape struct {
	Type                 string
	Format               string
	Pattern              string
	Enum                 []string
	MinLength            int
	MaxLength            *int
	MaxItems             *int
	MaxProperties        *int
	Minimum              *int64
	Maximum              *int64
	Items                *shape
	Properties           map[string]*shape
	AdditionalProperties *shape
	Required             []string
	IntOrString          bool   `json:"x-kubernetes-int-or-string"`
	Rules                []rule `json:"x-kubernetes-validations"`
	Description          string
}

type rule struct{ Rule, Message string }

// definitions reads the CRDs, by kind.
func definitions(t *testing.T) map[string]definition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(config, "crd", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no CRDs: %v", err)
	}
	all := map[string]definition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d definition
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[d.kind()] = d
	}
	return all
}

// walk visits a schema and all below it. In a path, [] is an item of a list and {} a value of a
// map.
func walk(path string, s *shape, visit func(path string, s *shape)) {
	visit(path, s)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		walk(strings.TrimPrefix(path+"."+name, "."), s.Properties[name], visit)
	}
	if s.Items != nil {
		walk(path+"[]", s.Items, visit)
	}
	if s.AdditionalProperties != nil {
		walk(path+"{}", s.AdditionalProperties, visit)
	}
}

// eachField visits all fields of all kinds except for those that every object has.
func eachField(t *testing.T, visit func(kind, path string, s *shape)) {
	t.Helper()
	all := definitions(t)
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		walk("", all[kind].root(), func(path string, s *shape) {
			switch path {
			case "", "apiVersion", "kind", "metadata":
			default:
				visit(kind, path, s)
			}
		})
	}
}

// timePattern is what Go can parse as a metav1.Time. The format date-time alone accepts more, of
// any length.
const timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`

// boundByRule are the fields that only a rule can bound, with a part of that rule and its path.
var boundByRule = map[string]struct{ at, rule string }{
	"ClusterUpgrade spec.pools[].maxUnavailable":              {"spec.pools[].maxUnavailable", "self.matches("},
	"ClusterUpgrade status.conditions[].lastTransitionTime":   {"status.conditions", "c.lastTransitionTime > timestamp("},
	"NodeUpgrade status.conditions[].lastTransitionTime":      {"status.conditions", "c.lastTransitionTime > timestamp("},
	"ClusterRelease status.conditions[].lastTransitionTime":   {"status.conditions", "c.lastTransitionTime > timestamp("},
	"BackupStore status.conditions[].lastTransitionTime":      {"status.conditions", "c.lastTransitionTime > timestamp("},
	"Component status.conditions[].lastTransitionTime":        {"status.conditions", "c.lastTransitionTime > timestamp("},
	"ComponentUpgrade status.conditions[].lastTransitionTime": {"status.conditions", "c.lastTransitionTime > timestamp("},
	"UpgradeSchedule status.conditions[].lastTransitionTime":  {"status.conditions", "c.lastTransitionTime > timestamp("},
	"UpgradeSchedule spec.template.pools[].maxUnavailable":    {"spec.template.pools[].maxUnavailable", "self.matches("},
	"UpgradeSchedule spec.template.nodeSelector keys":         {"spec.template.nodeSelector", "key.size() <= 317"},
	"UpgradeSchedule spec.template.pools[].nodeSelector keys": {"spec.template.pools[].nodeSelector", "key.size() <= 317"},
	"EtcdBackup status.conditions[].lastTransitionTime":       {"status.conditions", "c.lastTransitionTime > timestamp("},
	"ClusterUpgrade spec.nodeSelector keys":                   {"spec.nodeSelector", "key.size() <= 317"},
	"ClusterUpgrade spec.pools[].nodeSelector keys":           {"spec.pools[].nodeSelector", "key.size() <= 317"},
	"NodeReport status.kubelet.featureGates keys":             {"status.kubelet.featureGates", "key.size() <= 64"},
}

func TestNothingInACRDIsUnbounded(t *testing.T) {
	all := definitions(t)
	used := map[string]bool{}
	byRule := func(field string) bool {
		bound, ok := boundByRule[field]
		used[field] = ok
		kind, _, _ := strings.Cut(field, " ")
		found := false
		walk("", all[kind].root(), func(path string, s *shape) {
			for _, r := range s.Rules {
				found = found || path == bound.at && strings.Contains(r.Rule, bound.rule)
			}
		})
		return ok && found
	}
	fields := 0
	eachField(t, func(kind, path string, s *shape) {
		fields++
		field := kind + " " + path
		bounded := false
		switch {
		case s.IntOrString:
			bounded = byRule(field)
		case s.Type == "string" && s.Format == "date-time":
			bounded = s.Pattern == timePattern || byRule(field)
		case s.Type == "string":
			bounded = s.MaxLength != nil || len(s.Enum) > 0 || byRule(field)
		case s.Type == "array":
			bounded = s.MaxItems != nil
		case s.Type == "integer" && s.Format == "int32":
			bounded = s.Minimum != nil && s.Maximum != nil
		case s.AdditionalProperties != nil:
			bounded = s.MaxProperties != nil && byRule(field+" keys")
		case s.Type == "object", s.Type == "boolean", s.Type == "integer":
			bounded = true
		}
		if !bounded {
			t.Errorf("%s, %s %s, has no bound", field, s.Type, s.Format)
		}
	})
	if fields < 100 {
		t.Errorf("only %d fields were looked at", fields)
	}
	for field := range boundByRule {
		if !used[field] {
			t.Errorf("%s is listed but is no such field", field)
		}
	}
}

func TestEveryFieldIsDescribed(t *testing.T) {
	eachField(t, func(kind, path string, s *shape) {
		if s.Description == "" && !strings.HasSuffix(path, "[]") && !strings.HasSuffix(path, "{}") {
			t.Errorf("%s %s has no description", kind, path)
		}
	})
}

// TestTheConstantsAreTheBounds protects the writers, which truncate their texts and lists by these
// constants.
func TestTheConstantsAreTheBounds(t *testing.T) {
	maxLength := func(s *shape) int { return *s.MaxLength }
	maxItems := func(s *shape) int { return *s.MaxItems }
	for _, tt := range []struct {
		kind, path string
		bound      func(*shape) int
		constant   int
	}{
		{"ClusterUpgrade", "status.active", maxItems, refitv1alpha1.MaxActive},
		{"ClusterUpgrade", "status.failures", maxItems, refitv1alpha1.MaxFailures},
		{"ClusterUpgrade", "status.failures[].message", maxLength, refitv1alpha1.MaxMessage},
		{"ClusterUpgrade", "status.failures[].remedy", maxLength, refitv1alpha1.MaxMessage},
		{"ClusterUpgrade", "status.plan.hops", maxItems, refitv1alpha1.MaxHops},
		{"EtcdBackup", "spec.hops", maxItems, refitv1alpha1.MaxHops},
		{"EtcdBackup", "status.rehearsed", maxItems, refitv1alpha1.MaxHops},
		{"NodeUpgrade", "status.backup.rehearsed", maxItems, refitv1alpha1.MaxHops},
		{"ClusterUpgrade", "status.plan.stages", maxItems, refitv1alpha1.MaxStages},
		{"ClusterUpgrade", "status.plan.components", maxItems, refitv1alpha1.MaxPlannedComponents},
		{"ClusterUpgrade", "status.message", maxLength, refitv1alpha1.MaxStatusMessage},
		{"NodeUpgrade", "status.left", maxItems, refitv1alpha1.MaxLeft},
		{"NodeUpgrade", "status.error.message", maxLength, refitv1alpha1.MaxMessage},
		{"NodeUpgrade", "status.error.remedy", maxLength, refitv1alpha1.MaxMessage},
		{"NodeUpgrade", "status.error.logTail", maxLength, refitv1alpha1.MaxLogTail},
		{"NodeUpgrade", "status.backup.error.message", maxLength, refitv1alpha1.MaxMessage},
		{"NodeUpgrade", "status.backup.error.remedy", maxLength, refitv1alpha1.MaxMessage},
		{"EtcdBackup", "status.error.message", maxLength, refitv1alpha1.MaxMessage},
		{"ComponentUpgrade", "status.error.message", maxLength, refitv1alpha1.MaxMessage},
		{"ComponentUpgrade", "status.left[]", maxLength, refitv1alpha1.MaxMessage},
		{"ComponentUpgrade", "status.waiting", maxLength, refitv1alpha1.MaxMessage},
		{"Component", "status.offers[].problems[].message", maxLength, refitv1alpha1.MaxMessage},
		{"NodeUpgrade", "status.steps", maxItems, refitv1alpha1.MaxSteps},
		{"NodeUpgrade", "status.trial.message", maxLength, refitv1alpha1.MaxMessage},
		{"NodeUpgrade", "status.drain.blockers", maxItems, refitv1alpha1.MaxBlockers},
		{"NodeUpgrade", "status.drain.blockers[].reason", maxLength, refitv1alpha1.MaxBlockerReason},
		{"NodeUpgrade", "status.drain.blockers[].object", maxLength, refitv1alpha1.MaxBlockerObject},
	} {
		found := false
		eachField(t, func(kind, path string, s *shape) {
			if kind == tt.kind && path == tt.path {
				found = true
				if got := tt.bound(s); got != tt.constant {
					t.Errorf("%s %s: the bound is %d and the constant %d", kind, path, got, tt.constant)
				}
			}
		})
		if !found {
			t.Errorf("there is no %s %s", tt.kind, tt.path)
		}
	}
	for kind, want := range map[string]int{
		"ClusterUpgrade": refitv1alpha1.MaxConditionMessage, "BackupStore": refitv1alpha1.MaxConditionMessage, "EtcdBackup": refitv1alpha1.MaxConditionMessage, "NodeUpgrade": refitv1alpha1.MaxNodeConditionMessage,
	} {
		rules := definitions(t)[kind].root().Properties["status"].Properties["conditions"].Rules
		if len(rules) != 1 || !strings.Contains(rules[0].Rule, fmt.Sprintf("c.message.size() <= %d ", want)) {
			t.Errorf("%s: the rule on conditions is %v and the constant %d", kind, rules, want)
		}
	}
}
