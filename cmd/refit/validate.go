package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// errNoTarget is a request that does not say where to go.
var errNoTarget = errors.New("no target: say where to go with --to, such as --to v1.36.3, or with --release NAME")

// validate refuses what the API server would refuse, for a spec that never went through one.
func validate(spec *refitv1alpha1.ClusterUpgradeSpec) error {
	switch t := spec.Target; {
	case t.Kubernetes == "" && t.Release == "":
		return errNoTarget
	case t.Kubernetes != "" && t.Release != "":
		return errors.New("target: give kubernetes or release, not both")
	case t.Kubernetes != "":
		version, err := parseVersion(t.Kubernetes)
		if err != nil {
			return fmt.Errorf("target.kubernetes: %w", err)
		}
		spec.Target.Kubernetes = version
	}
	errs := []error{
		oneOf("scope", spec.Scope, refitv1alpha1.ScopeAll, refitv1alpha1.ScopeControlPlane, refitv1alpha1.ScopeWorkers),
		oneOf("approval", spec.Approval, refitv1alpha1.ApprovalRequired, refitv1alpha1.ApprovalNone),
		oneOf("rollback", spec.Rollback, refitv1alpha1.RollbackAuto, refitv1alpha1.RollbackManual),
	}
	for i, waiver := range spec.Waivers {
		if waiver.Check == "" || strings.TrimSpace(waiver.Reason) == "" {
			errs = append(errs, fmt.Errorf("waivers[%d]: a waiver needs a check and a reason", i))
		}
	}
	names := map[string]bool{}
	for i := range spec.Pools {
		pool := &spec.Pools[i]
		if pool.Name == "" || names[pool.Name] {
			errs = append(errs, fmt.Errorf("pools[%d]: the name %q is empty or there twice", i, pool.Name))
		}
		names[pool.Name] = true
		errs = append(errs, validatePool(fmt.Sprintf("pools[%d]", i), pool))
	}
	return first(errs)
}

func validatePool(path string, pool *refitv1alpha1.Pool) error {
	errs := []error{
		oneOf(path+".drain.when", pool.Drain.When, refitv1alpha1.DrainMinorReleases, refitv1alpha1.DrainAllReleases),
		oneOf(path+".drain.onBlocked", pool.Drain.OnBlocked,
			refitv1alpha1.OnBlockedWait, refitv1alpha1.OnBlockedSkip, refitv1alpha1.OnBlockedFail, refitv1alpha1.OnBlockedDelete),
	}
	if pool.MaxUnavailable != nil {
		if err := validateShare(pool.MaxUnavailable); err != nil {
			errs = append(errs, fmt.Errorf("%s.maxUnavailable: %w", path, err))
		}
	}
	if pool.Drain.Timeout.Duration < 0 {
		errs = append(errs, fmt.Errorf("%s.drain.timeout: %s is less than nothing", path, pool.Drain.Timeout.Duration))
	}
	if c := pool.Canary; c != nil && (c.Nodes < 0 || c.Soak.Duration < 0) {
		errs = append(errs, fmt.Errorf("%s.canary: neither nodes nor soak can be less than nothing", path))
	}
	return first(errs)
}

// validateShare refuses what is neither a number of nodes nor a percentage of them.
func validateShare(share *intstr.IntOrString) error {
	n, err := intstr.GetScaledValueFromIntOrPercent(share, 100, false)
	if err != nil || n < 1 || (share.Type == intstr.String && n > 100) {
		return fmt.Errorf("%q is neither a number of nodes, at least 1, nor a percentage from 1%% to 100%%", share.String())
	}
	return nil
}

// oneOf allows the values that are listed, and none at all.
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

// first is the first error of several: one sentence is enough to go on.
func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
