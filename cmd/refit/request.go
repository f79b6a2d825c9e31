package main

import (
	"fmt"
	"slices"
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

// requestFlags are the flags that describe an upgrade, over a manifest if there is one.
type requestFlags struct {
	to, release    string
	scope          string
	nodeSelector   string
	maxUnavailable string
	waive          []string
	manifest       string
}

var scopes = []string{string(refitv1alpha1.ScopeAll), string(refitv1alpha1.ScopeControlPlane), string(refitv1alpha1.ScopeWorkers)}

func (r *requestFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.to, "to", "", "the `VERSION` of Kubernetes to go to, such as v1.36.3")
	flags.StringVar(&r.release, "release", "", "the `NAME` of the ClusterRelease to go to, instead of --to")
	flags.StringVar(&r.scope, "scope", "", "what to upgrade: "+strings.Join(scopes, ", ")+" (default All)")
	flags.StringVar(&r.nodeSelector, "node-selector", "", "only workers with these `LABELS`: key=value,key2=value2")
	flags.StringVar(&r.maxUnavailable, "max-unavailable", "", "how many workers may be unavailable at once, a `NUMBER` or a percentage (default 1)")
	flags.StringArrayVar(&r.waive, "waive", nil,
		"set a finding aside: `CHECK/OBJECT=REASON`, or CHECK=REASON for all objects of a check; may be repeated")
	flags.StringVarP(&r.manifest, "file", "f", "", "a `FILE` with a ClusterUpgrade (- for stdin) to take target, pools and waivers from; flags go before it")
	mustComplete(cmd, "scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
}

// upgrade returns the ClusterUpgrade that the flags describe.
func (r *requestFlags) upgrade(a *app) (*refitv1alpha1.ClusterUpgrade, error) {
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if r.manifest != "" {
		raw, err := a.ReadFile(r.manifest)
		if err != nil {
			return nil, fmt.Errorf("the manifest cannot be read: %w", err)
		}
		if upgrade, err = manifest.Read(document.NameOf(r.manifest), raw); err != nil {
			return nil, err
		}
	}
	if err := r.apply(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	if err := request.Validate(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return upgrade, nil
}

// apply applies the flags to a spec.
func (r *requestFlags) apply(spec *refitv1alpha1.ClusterUpgradeSpec) error {
	switch {
	case r.to != "" && r.release != "":
		return fmt.Errorf("--to and --release are two targets: give one of them")
	case r.to != "":
		version, err := request.ParseVersion(r.to)
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
		if err := request.ValidateShare(&value); err != nil {
			return fmt.Errorf("--max-unavailable: %w", err)
		}
		request.DefaultPool(spec).MaxUnavailable = &value
	}
	for _, text := range r.waive {
		waiver, err := request.ParseWaiver(text)
		if err != nil {
			return fmt.Errorf("--waive: %w", err)
		}
		spec.Waivers = append(spec.Waivers, waiver)
	}
	return nil
}
