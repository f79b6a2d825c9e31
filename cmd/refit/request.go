package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// requestFlags are the flags that describe an upgrade. They override the manifest, if there is one.
type requestFlags struct {
	manifest.Flags
	manifest string

	waivers []refitv1alpha1.Waiver // those of flags
}

func (r *requestFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.To, "to", "", "the `VERSION` of Kubernetes to upgrade to, for example v1.36.3")
	flags.StringVar(&r.Release, "release", "", "the `NAME` of the ClusterRelease to upgrade to, instead of --to")
	flags.StringVar(&r.Scope, "scope", "", "the `PART` of the cluster to upgrade: "+strings.Join(manifest.Scopes, ", ")+" (default All)")
	flags.StringVar(&r.NodeSelector, "node-selector", "", "upgrade only workers with these `LABELS`: key=value,key2=value2")
	flags.StringVar(&r.MaxUnavailable, "max-unavailable", "", "the `NUMBER` or percentage of workers that may be unavailable at once (default 1)")
	flags.StringArrayVar(&r.Waive, "waive", nil,
		"waive a finding: `CHECK/OBJECT=REASON` with an object such as Node worker-1, or CHECK=REASON for all objects; can be repeated")
	flags.StringVarP(&r.manifest, "file", "f", "", "the `FILE` of a ClusterUpgrade manifest (- for stdin) with target, pools and waivers; flags override it")
	mustComplete(cmd, "scope", cobra.FixedCompletions(manifest.Scopes, cobra.ShellCompDirectiveNoFileComp))
}

// upgrade returns the ClusterUpgrade that the flags describe. resolve returns the version that a
// minor version stands for.
func (r *requestFlags) upgrade(
	a *app, resolve func(minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error),
) (*refitv1alpha1.ClusterUpgrade, error) {
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
	var err error
	if r.waivers, err = r.Apply(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	if err := r.ApplyTarget(&upgrade.Spec, resolve); err != nil {
		return nil, err
	}
	if err := request.Validate(&upgrade.Spec); err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return upgrade, nil
}
