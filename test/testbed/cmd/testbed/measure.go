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
		Short: "Prove that a cluster works for a workload: DNS, Services across nodes, logs, exec",
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
		Short: "Upgrade a cluster as kubeadm's documentation says, and report the seconds of every part",
		Long: "Upgrade a cluster node after node with kubeadm, kubectl drain and uncordon, as kubeadm's\n" +
			"documentation says. This is the baseline that Refit is held against.",
		Example: "  testbed upgrade-bare --name demo --to v1.36.3 --report json",
		Args:    asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usageError{fmt.Errorf("--to is missing")}
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
	flags.StringVar(&to, "to", "", "Kubernetes version to move to")
	flags.StringVar(&format, "report", "text", "form of the report: text or json")
	flags.BoolVar(&samples, "sample", true, "sample the availability of API and workload meanwhile")
	return cmd
}

func newSampleCommand(opts *options) *cobra.Command {
	var name, format string
	var duration time.Duration
	cmd := &cobra.Command{
		Use:   "sample",
		Short: "Sample the availability of API and workload, and report the gaps",
		Long: "Ten times a second and kind: read a ConfigMap through the control plane endpoint on a new\n" +
			"connection and on a reused one, and ask a workload's Service from every node that runs and\n" +
			"is not cordoned. The workload is deployed first, into the namespace testbed-smoke.\n\n" +
			"A sample has failed after 2 s; a gap runs from the start of the first failed sample to the\n" +
			"start of the next good one. Ends after --duration or with Ctrl-C.",
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
	flags.StringVar(&format, "report", "text", "form of the report: text or json")
	flags.DurationVar(&duration, "duration", 0, "how long; 0 until interrupted")
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
	opts.report.Say("sampling cluster %s", c.Name())
	bare.SampleFromTheWell(ctx, c, sampler)
	return write(sampler.Stop())
}

// tableWriter is a report that can be read by a person.
type tableWriter interface{ WriteTable(io.Writer) error }

// reportWriter writes reports in the form asked for.
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
