package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/assessing"
	"github.com/refit-dev/refit/internal/cli/manifest"
)

// addRequestFlags adds the flags that describe an upgrade.
func addRequestFlags(cmd *cobra.Command, r *assessing.Request, f *manifest.Flags) {
	flags := cmd.Flags()
	flags.StringVar(&f.To, "to", "", "the `VERSION` of Kubernetes to upgrade to, for example v1.36.3")
	flags.StringVar(&f.Release, "release", "", "the `NAME` of the ClusterRelease to upgrade to, instead of --to")
	flags.StringVar(&f.Scope, "scope", "", "the `PART` of the cluster to upgrade: "+strings.Join(manifest.Scopes, ", ")+" (default All)")
	flags.StringVar(&f.NodeSelector, "node-selector", "", "upgrade only workers with these `LABELS`: key=value,key2=value2")
	flags.StringVar(&f.MaxUnavailable, "max-unavailable", "", "the `NUMBER` or percentage of workers that may be unavailable at once (default 1)")
	flags.StringArrayVar(&f.Waive, "waive", nil,
		"waive a finding: `CHECK/OBJECT=REASON` with an object such as Node worker-1, or CHECK=REASON for all objects; can be repeated")
	flags.StringVarP(&r.Manifest, "file", "f", "", "the `FILE` of a ClusterUpgrade manifest (- for stdin) with target, pools and waivers; flags override it")
	mustComplete(cmd, "scope", cobra.FixedCompletions(manifest.Scopes, cobra.ShellCompDirectiveNoFileComp))
}
