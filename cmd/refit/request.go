package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// requestFlags are the flags that describe an upgrade. They override the manifest, if there is one.
type requestFlags struct {
	to, release    string
	scope          string
	nodeSelector   string
	maxUnavailable string
	waive          []string
	manifest       string

	waivers []refitv1alpha1.Waiver // parsed from waive
}

var scopes = []string{string(refitv1alpha1.ScopeAll), string(refitv1alpha1.ScopeControlPlane), string(refitv1alpha1.ScopeWorkers)}

func (r *requestFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.to, "to", "", "the `VERSION` of Kubernetes to upgrade to, for example v1.36.3")
	flags.StringVar(&r.release, "release", "", "the `NAME` of the ClusterRelease to upgrade to, instead of --to")
	flags.StringVar(&r.scope, "scope", "", "the part of the cluster to upgrade: "+strings.Join(scopes, ", ")+" (default All)")
	flags.StringVar(&r.nodeSelector, "node-selector", "", "upgrade only workers with these `LABELS`: key=value,key2=value2")
	flags.StringVar(&r.maxUnavailable, "max-unavailable", "", "the `NUMBER` or percentage of workers that may be unavailable at once (default 1)")
	flags.StringArrayVar(&r.waive, "waive", nil,
		"waive a finding: `CHECK/OBJECT=REASON` with an object such as Node worker-1, or CHECK=REASON for all objects; can be repeated")
	flags.StringVarP(&r.manifest, "file", "f", "", "the `FILE` of a ClusterUpgrade manifest (- for stdin) with target, pools and waivers; flags override it")
	mustComplete(cmd, "scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
}

// resolver returns the version that a minor version stands for in an upgrade.
type resolver func(minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error)

// upgrade returns the ClusterUpgrade that the flags describe.
func (r *requestFlags) upgrade(a *app, resolve resolver) (*refitv1alpha1.ClusterUpgrade, error) {
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if r.manifest != "" {
		raw, err := a.ReadFile(r.manifest)
		if err != nil {
			return nil, fmt.Errorf("cannot read the manifest: %w", err)
		}
		if upgrade, err = manifest.Read(document.NameOf(r.manifest), raw); err != nil {
			return nil, err
		}
	}
	if err := r.apply(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	if err := r.applyTarget(&upgrade.Spec, resolve); err != nil {
		return nil, err
	}
	if err := request.Validate(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return upgrade, nil
}

// applyTarget applies the flags of the target to a spec that has all other flags: they decide which
// patch release of a minor version can be reached.
func (r *requestFlags) applyTarget(spec *refitv1alpha1.ClusterUpgradeSpec, resolve resolver) error {
	switch {
	case r.to != "" && r.release != "":
		return exit.Usagef("--to and --release exclude each other")
	case r.release != "":
		spec.Target = refitv1alpha1.Target{Release: r.release}
	case r.to != "":
		if minor, ok := request.ParseMinor(r.to); ok {
			version, err := resolve(minor, *spec)
			if err != nil {
				return err
			}
			r.to = version
		}
		version, err := request.ParseVersion(r.to)
		if err != nil {
			return exit.Usagef("--to: %w", err)
		}
		spec.Target = refitv1alpha1.Target{Kubernetes: version}
	}
	return nil
}

// apply applies the flags to a spec, except for the target.
func (r *requestFlags) apply(spec *refitv1alpha1.ClusterUpgradeSpec) error {
	if r.scope != "" {
		scope, err := enum("--scope", r.scope, scopes)
		if err != nil {
			return err
		}
		spec.Scope = refitv1alpha1.Scope(scope)
	}
	if r.nodeSelector != "" {
		selector, err := labels.ConvertSelectorToLabelsMap(r.nodeSelector)
		if err != nil {
			return fmt.Errorf("--node-selector: %q is not a list of labels such as key=value,key2=value2: %w", r.nodeSelector, err)
		}
		spec.NodeSelector = map[string]string(selector)
	}
	if r.maxUnavailable != "" {
		value := intstr.Parse(r.maxUnavailable)
		if err := request.ValidateShare(&value); err != nil {
			return fmt.Errorf("--max-unavailable: %w", err)
		}
		request.DefaultPool(spec).MaxUnavailable = &value
	}
	r.waivers = nil
	for _, text := range r.waive {
		waiver, err := request.ParseWaiver(text)
		if err != nil {
			return fmt.Errorf("--waive: %w", err)
		}
		r.waivers = append(r.waivers, waiver)
	}
	spec.Waivers = append(spec.Waivers, r.waivers...)
	return nil
}
