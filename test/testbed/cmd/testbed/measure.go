package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

func newSmokeCommand(opts *options) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "smoke",
		Short: "Test a cluster with a workload: DNS, Services across nodes, logs, exec",
		Args:  asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := opts.testbed().Cluster(name)
			if err != nil {
				return err
			}
			return opts.report.Step("smoke test of cluster "+name, 0, func() error { return c.Smoke(cmd.Context()) })
		},
	}
	nameFlag(cmd, &name)
	return cmd
}

func newUpgradeBareCommand(opts *options) *cobra.Command {
	var name, to, format string
	var samples bool
	cmd := &cobra.Command{
		Use:   "upgrade-bare",
		Short: "Upgrade a cluster with plain kubeadm and report the duration of every part",
		Long: "Upgrade a cluster node by node with kubeadm, kubectl drain and uncordon, as the kubeadm\n" +
			"documentation describes. This is the baseline for Refit.",
		Example: "  testbed upgrade-bare --name demo --to v1.36.3 --report json",
		Args:    asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usageError{fmt.Errorf("--to is required")}
			}
			write, err := reportWriter(format)
			if err != nil {
				return usageError{err}
			}
			c, err := opts.testbed().Cluster(name)
			if err != nil {
				return err
			}
			report, err := bare.Upgrade(cmd.Context(), c, to, samples, opts.report)
			if e := write(cmd.OutOrStdout(), report); err == nil {
				err = e
			}
			return err
		},
	}
	nameFlag(cmd, &name)
	flags := cmd.Flags()
	flags.StringVar(&to, "to", "", "target Kubernetes version")
	flags.StringVar(&format, "report", "text", "output format: text or json")
	flags.BoolVar(&samples, "sample", true, "sample the availability of the API and a workload during the upgrade")
	return cmd
}

func newSampleCommand(opts *options) *cobra.Command {
	var name, format string
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "sample",
		Short: "Sample the availability of the API and a workload, and report gaps",
		Long: "Ten times a second: read a ConfigMap through the control plane endpoint on a new connection\n" +
			"and on a reused one, and request a workload's Service from every node that is running and\n" +
			"not cordoned. The workload is deployed first, in the namespace testbed-smoke.\n\n" +
			"A sample fails after 2 s. A gap lasts from the start of the first failed sample to the start of\n" +
			"the next good one. Sampling ends after --duration or with Ctrl-C.",
		Example: "  testbed sample --name demo --duration 1m --report json",
		Args:    asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, err := reportWriter(format)
			if err != nil {
				return usageError{err}
			}
			c, err := opts.testbed().Cluster(name)
			if err != nil {
				return err
			}
			return sampleFor(cmd.Context(), opts, c, duration, func(r tableWriter) error { return write(cmd.OutOrStdout(), r) })
		},
	}
	nameFlag(cmd, &name)
	flags := cmd.Flags()
	flags.StringVar(&format, "report", "text", "output format: text or json")
	flags.DurationVar(&duration, "duration", 0, "duration of sampling; 0 means until interrupted")
	return cmd
}

func sampleFor(ctx context.Context, opts *options, c *cluster.Cluster, duration time.Duration, write func(tableWriter) error) error {
	sampler, err := bare.StartSampler(ctx, c)
	if err != nil {
		return err
	}
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	opts.report.Printf("sampling cluster %s", c.Name())
	bare.SampleHealthyNodes(ctx, c, sampler)
	return write(sampler.Stop())
}

// tableWriter is a report with a text format.
type tableWriter interface{ WriteTable(io.Writer) error }

// reportWriter writes reports in the requested format.
func reportWriter(format string) (func(io.Writer, tableWriter) error, error) {
	switch format {
	case "text":
		return func(out io.Writer, r tableWriter) error { return r.WriteTable(out) }, nil
	case "json":
		return func(out io.Writer, r tableWriter) error {
			encoder := json.NewEncoder(out)
			encoder.SetIndent("", "  ")
			return encoder.Encode(r)
		}, nil
	}
	return nil, fmt.Errorf("report %q: want text or json", format)
}
