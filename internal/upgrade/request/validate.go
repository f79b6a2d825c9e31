package request

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The bounds of a spec, as in api/v1alpha1: the API server must accept what was planned here.
const (
	maxRelease      = 63
	maxWaivers      = 64
	maxCheck        = 63
	maxObject       = 384
	maxReason       = 512
	maxAllWaivers   = 10240
	maxPools        = 32
	maxLabels       = 16
	maxLabelKey     = 317
	maxLabelValue   = 63
	maxAllSelectors = 2048 // of spec.nodeSelector
	maxAllOfPools   = 4096 // of the selectors of all pools
)

// ErrNoTarget is returned for a spec without a target.
var ErrNoTarget = errors.New("target: kubernetes or release is required")

var planHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// IsPlanHash is true for the hash of a plan.
func IsPlanHash(s string) bool { return planHash.MatchString(s) }

// Validate rejects a spec that the API server would reject, before it is sent. It converts the
// version of the target to its canonical form.
func Validate(spec *refitv1alpha1.ClusterUpgradeSpec) error {
	if err := validateTarget(&spec.Target); err != nil {
		return err
	}
	return first([]error{
		oneOf("scope", spec.Scope, refitv1alpha1.ScopeAll, refitv1alpha1.ScopeControlPlane, refitv1alpha1.ScopeWorkers),
		oneOf("approval", spec.Approval, refitv1alpha1.ApprovalRequired, refitv1alpha1.ApprovalNone),
		oneOf("rollback", spec.Rollback, refitv1alpha1.RollbackAuto, refitv1alpha1.RollbackManual),
		require(spec.ApprovedPlan == "" || IsPlanHash(spec.ApprovedPlan), "approvedPlan: %q is not the hash of a plan", spec.ApprovedPlan),
		require(spec.Retry >= 0, "retry: %d is negative", spec.Retry),
		validateLabels("nodeSelector", spec.NodeSelector),
		require(lengthOf(spec.NodeSelector) <= maxAllSelectors, "nodeSelector: at most %d characters are allowed in total", maxAllSelectors),
		validateWaivers(spec.Waivers),
		validatePools(spec.Pools),
	})
}

func validateTarget(t *refitv1alpha1.Target) error {
	switch {
	case t.Kubernetes == "" && t.Release == "":
		return ErrNoTarget
	case t.Kubernetes != "" && t.Release != "":
		return errors.New("target: kubernetes and release exclude each other")
	case t.Release != "":
		return atMost("target.release", t.Release, maxRelease)
	}
	version, err := ParseVersion(t.Kubernetes)
	if err != nil {
		return fmt.Errorf("target.kubernetes: %w", err)
	}
	t.Kubernetes = version
	return nil
}

func validateWaivers(waivers []refitv1alpha1.Waiver) error {
	errs := []error{require(len(waivers) <= maxWaivers, "waivers: at most %d are allowed, found %d", maxWaivers, len(waivers))}
	all := 0
	for i, w := range waivers {
		path := fmt.Sprintf("waivers[%d]", i)
		errs = append(errs,
			require(w.Check != "" && strings.TrimSpace(w.Reason) != "", "%s: a waiver needs a check and a reason", path),
			atMost(path+".check", w.Check, maxCheck), atMost(path+".object", w.Object, maxObject), atMost(path+".reason", w.Reason, maxReason))
		all += utf8.RuneCountInString(w.Check + w.Object + w.Reason)
	}
	return first(append(errs, require(all <= maxAllWaivers, "waivers: at most %d characters are allowed in total, found %d", maxAllWaivers, all)))
}

// labelKey is stricter than the API server: a rule of a CRD cannot match strings of any length, and
// no node has a label with another key.
var labelKey = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

var labelValue = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)

func validateLabels(path string, labels refitv1alpha1.Labels) error {
	errs := []error{require(len(labels) <= maxLabels, "%s: at most %d labels are allowed, found %d", path, maxLabels, len(labels))}
	for key, value := range labels {
		errs = append(errs,
			require(labelKey.MatchString(key), "%s: %q is not a label key", path, key),
			require(utf8.RuneCountInString(key) <= maxLabelKey, "%s: a label key has at most %d characters", path, maxLabelKey),
			require(labelValue.MatchString(value) && len(value) <= maxLabelValue, "%s: %q is not a label value", path, value))
	}
	return first(errs)
}

// lengthOf is the number of characters of all labels together.
func lengthOf(labels refitv1alpha1.Labels) int {
	sum := 0
	for key, value := range labels {
		sum += utf8.RuneCountInString(key) + utf8.RuneCountInString(value)
	}
	return sum
}

// oneOf accepts the listed values and an empty value.
func oneOf[T ~string](path string, value T, allowed ...T) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	names := make([]string, 0, len(allowed))
	for _, a := range allowed {
		names = append(names, string(a))
	}
	return fmt.Errorf("%s: %q is none of %s", path, value, strings.Join(names, ", "))
}

func atMost(path, value string, most int) error {
	n := utf8.RuneCountInString(value)
	return require(n <= most, "%s: has %d characters, at most %d are allowed", path, n, most)
}

// require returns an error unless the condition holds.
func require(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// first returns the first error: users fix one at a time.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
