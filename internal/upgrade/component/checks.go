package component

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The limits of the checks of a component. A message and the names of three objects fit into a
// problem, and so does a remedy.
const (
	MaxChecks       = 16
	maxCheckRule    = 2048
	maxCheckMessage = 128
)

var (
	checkedKind    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	checkedVersion = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
)

// ValidateChecks validates the checks of a component, except their rules: only those who evaluate
// rules compile them. Each error names the field.
func ValidateChecks(checks []refitv1alpha1.ComponentCheck) error {
	if len(checks) > MaxChecks {
		return fmt.Errorf("checks: %d are more than %d", len(checks), MaxChecks)
	}
	var names []string
	for i := range checks {
		if err := validateCheck(&checks[i]); err != nil {
			return fmt.Errorf("checks[%d].%w", i, err)
		}
		if slices.Contains(names, checks[i].Name) {
			return fmt.Errorf("checks[%d].name: %s occurs twice", i, checks[i].Name)
		}
		names = append(names, checks[i].Name)
	}
	return nil
}

func validateCheck(c *refitv1alpha1.ComponentCheck) error {
	switch {
	case len(validation.IsDNS1123Label(c.Name)) > 0:
		return fmt.Errorf("name: %q is not a DNS label of at most 63 characters", refitv1alpha1.Clip(c.Name, 80))
	case c.Rule == "" && c.ListRule == "":
		return errors.New("rule: it is missing")
	case c.Rule != "" && c.ListRule != "":
		return errors.New("listRule: a check has a rule or a listRule, not both")
	case len(c.Rule) > maxCheckRule:
		return fmt.Errorf("rule: it has more than %d bytes", maxCheckRule)
	case len(c.ListRule) > maxCheckRule:
		return fmt.Errorf("listRule: it has more than %d bytes", maxCheckRule)
	case c.Message == "":
		return errors.New("message: it is missing")
	case len([]rune(c.Message)) > maxCheckMessage:
		return fmt.Errorf("message: it has more than %d characters", maxCheckMessage)
	case c.Remedy == "":
		return errors.New("remedy: it is missing")
	case len([]rune(c.Remedy)) > refitv1alpha1.MaxMessage:
		return fmt.Errorf("remedy: it has more than %d characters", refitv1alpha1.MaxMessage)
	case !slices.Contains([]refitv1alpha1.CheckTime{"", refitv1alpha1.CheckAlways, refitv1alpha1.CheckOnInstall, refitv1alpha1.CheckOnUpgrade}, c.When):
		return fmt.Errorf("when: %q is not Always, Install or Upgrade", refitv1alpha1.Clip(string(c.When), 40))
	case !slices.Contains([]refitv1alpha1.CheckSeverity{"", refitv1alpha1.CheckBlocks, refitv1alpha1.CheckWarns}, c.Severity):
		return fmt.Errorf("severity: %q is not Block or Warn", refitv1alpha1.Clip(string(c.Severity), 40))
	}
	if err := validateChecked(&c.Objects); err != nil {
		return fmt.Errorf("objects.%w", err)
	}
	return nil
}

// validateChecked accepts every kind but Secrets: the error of a rule could quote their values.
func validateChecked(o *refitv1alpha1.CheckedObjects) error {
	switch {
	case !checkedKind.MatchString(o.Kind) || len(o.Kind) > 253:
		return fmt.Errorf("kind: %q is not a kind with its group, such as ClusterQueue.kueue.x-k8s.io, or of the core group, such as Pod",
			refitv1alpha1.Clip(o.Kind, 80))
	case o.Kind == "Secret":
		return errors.New("kind: a check cannot read Secrets")
	case o.Version != "" && (!checkedVersion.MatchString(o.Version) || len(o.Version) > 63):
		return fmt.Errorf("version: %q is not a version such as v1beta1", refitv1alpha1.Clip(o.Version, 40))
	case o.Namespace != "" && len(validation.IsDNS1123Label(o.Namespace)) > 0:
		return fmt.Errorf("namespace: %q is not the name of a namespace", refitv1alpha1.Clip(o.Namespace, 80))
	}
	if _, err := labels.Parse(o.Selector); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	return nil
}

// Applies reports whether a check is for an action.
func Applies(check *refitv1alpha1.ComponentCheck, action Action) bool {
	switch check.When {
	case refitv1alpha1.CheckOnInstall:
		return action == Install
	case refitv1alpha1.CheckOnUpgrade:
		return action == Upgrade
	case refitv1alpha1.CheckAlways:
	}
	return action == Install || action == Upgrade
}
