package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/bundling"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
)

func newSupportBundleCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	flags := bundling.DefaultFlags()
	cmd := &cobra.Command{
		Use:   "support-bundle [NAME]",
		Short: "Collect objects, logs and journals for support, without secrets",
		Long:  bundling.Help,
		Example: a.example(
			"# Collect a bundle about the active or last upgrade", "support-bundle",
			"# Collect the last two hours of two hosts", "support-bundle --since 2h --node cp-1,worker-3",
			"# Redact the names of your customers as well", "support-bundle --redact 'ACME-[0-9]+'",
		),
		Args:              accept(arguments.Operation),
		ValidArgsFunction: a.completeNames(&k, operationNames),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		options, err := flags.Options(arguments.First(args))
		if err := cmp.Or(f.Check(), err); err != nil {
			return err
		}
		bundler := &bundling.Bundler{
			Version: versionOf().Version, Now: a.Now, Clients: a.bundleClients, Local: &host.Reader{StateDir: host.DefaultStateDir},
			Progress: func(cluster string, verbose bool) bundling.Progress { return a.NewReading(cluster, verbose) },
		}
		index, err := bundler.Collect(cmd.Context(), &k, &flags, options)
		if index == nil {
			return err
		}
		return cmp.Or(a.PrintAs(&f.Format, index, func() string { return text.SupportBundle(index, a.Page(false)) }), err)
	}
	addBundleFlags(cmd, &flags)
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func addBundleFlags(cmd *cobra.Command, f *bundling.Flags) {
	flags := cmd.Flags()
	flags.StringVar(&f.File, "file", "", "the `FILE` to create (default refit-support-bundle-CLUSTER-TIME.tar.gz)")
	flags.StringSliceVar(&f.Nodes, "node", nil, "collect the hosts of these `NODES` only (default the most important ones for the upgrade)")
	flags.DurationVar(&f.Since, "since", 0, "collect logs and journals of the last `DURATION` (default the time of the upgrade, or 24h)")
	flags.StringArrayVar(&f.Redact, "redact", nil, "redact what this regular `EXPRESSION` matches, or its first group; can be repeated")
	flags.StringVar(&f.Size, "max-size", f.Size, "the maximum `SIZE` of the content before compression")
	flags.StringVar(&f.HostSize, "max-host-size", f.HostSize, "the maximum `SIZE` of the journals of a host, and of a list of objects")
	flags.StringVar(&f.LogSize, "max-log-size", f.LogSize, "the maximum `SIZE` of the log of a container")
	flags.IntVar(&f.Hosts, "max-hosts", f.Hosts, "the maximum `NUMBER` of hosts; 0 creates no Pods")
	flags.DurationVar(&f.Timeout, "timeout", f.Timeout, "the maximum `DURATION` of the collection")
	flags.DurationVar(&f.HostTimeout, "host-timeout", f.HostTimeout, "the maximum `DURATION` of a host, with the start of its Pod")
	flags.BoolVarP(&f.Verbose, "verbose", "v", false, "report on stderr what is being collected, even if it is not a terminal")
}
