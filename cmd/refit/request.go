package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// request is what a person asks for: the flags that make a ClusterUpgrade, on top of a manifest if there is one.
type request struct {
	to, release    string
	scope          string
	nodeSelector   string
	maxUnavailable string
	waive          []string
	file           string
}

var scopes = []string{string(refitv1alpha1.ScopeAll), string(refitv1alpha1.ScopeControlPlane), string(refitv1alpha1.ScopeWorkers)}

func (r *request) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.to, "to", "", "the `VERSION` of Kubernetes to go to, such as v1.36.3")
	flags.StringVar(&r.release, "release", "", "the `NAME` of the ClusterRelease to go to, instead of --to")
	flags.StringVar(&r.scope, "scope", "", "what to upgrade: "+strings.Join(scopes, ", ")+" (default All)")
	flags.StringVar(&r.nodeSelector, "node-selector", "", "only workers with these `LABELS`: key=value,key2=value2")
	flags.StringVar(&r.maxUnavailable, "max-unavailable", "", "how many workers may be unavailable at once, a `NUMBER` or a percentage (default 1)")
	flags.StringArrayVar(&r.waive, "waive", nil,
		"set a finding aside: `CHECK/OBJECT=REASON`, or CHECK=REASON for all objects of a check; may be repeated")
	flags.StringVarP(&r.file, "file", "f", "", "a `FILE` with a ClusterUpgrade (- for stdin) to take target, pools and waivers from; flags go before it")
	mustComplete(cmd, "scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
}

// upgrade makes the ClusterUpgrade that is asked for. Whatever is wrong with it is a usage error.
func (r *request) upgrade(a *app) (*refitv1alpha1.ClusterUpgrade, error) {
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if r.file != "" {
		var err error
		if upgrade, err = readManifest(a, r.file); err != nil {
			return nil, err
		}
	}
	if err := r.apply(&upgrade.Spec); err != nil {
		return nil, usageError{err}
	}
	if err := validate(&upgrade.Spec); err != nil {
		return nil, usageError{err}
	}
	return upgrade, nil
}

// apply lays the flags over a spec.
func (r *request) apply(spec *refitv1alpha1.ClusterUpgradeSpec) error {
	switch {
	case r.to != "" && r.release != "":
		return fmt.Errorf("--to and --release are two targets: give one of them")
	case r.to != "":
		version, err := parseVersion(r.to)
		if err != nil {
			return fmt.Errorf("--to: %w", err)
		}
		spec.Target = refitv1alpha1.Target{Kubernetes: version}
	case r.release != "":
		spec.Target = refitv1alpha1.Target{Release: r.release}
	}
	if r.scope != "" {
		if !slices.Contains(scopes, r.scope) {
			return fmt.Errorf("--scope: %q is none of %s", r.scope, strings.Join(scopes, ", "))
		}
		spec.Scope = refitv1alpha1.Scope(r.scope)
	}
	if r.nodeSelector != "" {
		selector, err := labels.ConvertSelectorToLabelsMap(r.nodeSelector)
		if err != nil {
			return fmt.Errorf("--node-selector: %q is no list of labels like key=value,key2=value2: %w", r.nodeSelector, err)
		}
		spec.NodeSelector = map[string]string(selector)
	}
	if r.maxUnavailable != "" {
		value := intstr.Parse(r.maxUnavailable)
		if err := validateShare(&value); err != nil {
			return fmt.Errorf("--max-unavailable: %w", err)
		}
		defaultPool(spec).MaxUnavailable = &value
	}
	for _, text := range r.waive {
		waiver, err := parseWaiver(text)
		if err != nil {
			return fmt.Errorf("--waive: %w", err)
		}
		spec.Waivers = append(spec.Waivers, waiver)
	}
	return nil
}

// defaultPool is the pool of the workers that no other pool matches, made if there is none.
func defaultPool(spec *refitv1alpha1.ClusterUpgradeSpec) *refitv1alpha1.Pool {
	at := slices.IndexFunc(spec.Pools, func(p refitv1alpha1.Pool) bool { return p.Name == policy.DefaultPool })
	if at < 0 {
		at = len(spec.Pools)
		spec.Pools = append(spec.Pools, refitv1alpha1.Pool{Name: policy.DefaultPool})
	}
	return &spec.Pools[at]
}

// parseVersion reads the version to go to. It must be one that was released: what goes into a plan is what was typed, not something near it.
func parseVersion(s string) (string, error) {
	version, err := skew.Parse(s)
	if err != nil {
		return "", err
	}
	if version.Major != 1 {
		return "", fmt.Errorf("%q is of no Kubernetes that Refit knows: versions begin with v1", s)
	}
	if version.String() != "v"+strings.TrimPrefix(s, "v") {
		return "", fmt.Errorf("%q is a pre-release or a build: Refit goes to releases such as %s", s, version)
	}
	return version.String(), nil
}
