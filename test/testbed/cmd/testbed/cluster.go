package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// testbed returns the testbed of this machine.
func (o *options) testbed() *cluster.Testbed {
	return cluster.New(cluster.StateDir, builder.New(o.cache, o.report), o.report)
}

// nameFlag adds the flag --name.
func nameFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "name", "testbed", "name of the cluster")
}

func newUpCommand(opts *options) *cobra.Command {
	var spec cluster.Spec
	var disk string
	var keep, checked bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Create a cluster",
		Long: "Create a cluster and wait until it is ready. Missing artifacts are built first.\n" +
			"If the creation fails, the cluster is removed.",
		Example: "  testbed up --name demo --control-planes 3 --workers 2 --kubernetes v1.35.4\n" +
			"  testbed up --name old --install deb --containerd debian --kubernetes v1.35.4\n" +
			"  testbed up --name edge --zones a,b,c --workers 3 --disk 6G --kubernetes v1.36.3\n" +
			"  testbed up --name vip --control-planes 3 --vip keepalived --vip-check=false --kubernetes v1.35.4\n" +
			"  testbed up --name spray --control-planes 3 --layout kubespray --kubernetes v1.35.4",
		Args: asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if disk != "" {
				if spec.Disk, err = cluster.ParseSize(disk); err != nil {
					return usageError{err}
				}
			}
			spec.VIPUnchecked = !checked
			spec.Default()
			if err := spec.Validate(); err != nil {
				return usageError{err}
			}
			c, err := opts.testbed().Up(cmd.Context(), spec, keep)
			if err != nil {
				return err
			}
			opts.report.Printf("cluster %s is ready after %s; to use it, run: export KUBECONFIG=%s", c.Name(),
				progress.Seconds(opts.report.Elapsed()), c.KubeconfigFile())
			return nil
		},
	}
	nameFlag(cmd, &spec.Name)
	flags := cmd.Flags()
	flags.IntVar(&spec.ControlPlanes, "control-planes", 1, "number of control plane nodes")
	flags.IntVar(&spec.Workers, "workers", 0, "number of workers; without workers, the control plane nodes run workloads")
	flags.StringVar(&spec.Kubernetes, "kubernetes", "v1.35.4", "Kubernetes version")
	flags.StringVar(&spec.Install, "install", builder.InstallBinaries, "installation method: binaries, deb for packages from a local apt repository, or rpm")
	flags.StringVar(&spec.Containerd, "containerd", builder.ContainerdBuilt, "containerd: "+builder.ContainerdBuilt+", or debian for the Debian package")
	flags.StringSliceVar(&spec.Zones, "zones", nil, "zones, assigned to the nodes in turn as topology.kubernetes.io/zone")
	flags.StringVar(&disk, "disk", "", "size of a separate ext4 disk per node, such as 6G")
	flags.StringVar(&spec.VIP, "vip", "", "software that moves the API endpoint between control plane nodes: keepalived or kube-vip")
	flags.BoolVar(&checked, "vip-check", true, "move the address off a node whose API server is down")
	flags.StringVar(&spec.Etcd, "etcd", "", "etcd under systemd: external for the control plane hosts, or external-hosts for three hosts of its own")
	flags.StringVar(&spec.Layout, "layout", "", "kubespray for its paths of certificates and of the kubelet's configuration, with external etcd")
	flags.BoolVar(&keep, "keep-failed", false, "keep a cluster that fails to start, for inspection")
	return cmd
}

func newDownCommand(opts *options) *cobra.Command {
	var name string
	var all bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Remove a cluster",
		Args:  asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			clusters, err := opts.testbed().Clusters()
			if err != nil {
				return err
			}
			found := false
			for _, c := range clusters {
				if !all && c.Name() != name {
					continue
				}
				found = true
				remove := func() error { return c.Down(cmd.Context()) }
				if err := opts.report.Step("removing cluster "+c.Name(), 0, remove); err != nil {
					return err
				}
			}
			if !found && !all {
				return fmt.Errorf("cluster %q: %w", name, cluster.ErrNotFound)
			}
			return nil
		},
	}
	nameFlag(cmd, &name)
	cmd.Flags().BoolVar(&all, "all", false, "remove every cluster")
	return cmd
}

func newPruneCommand(opts *options) *cobra.Command {
	var superseded bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove leftovers of killed runs, but no running clusters",
		Args:  asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			removed, err := opts.testbed().Prune(cmd.Context())
			if err == nil && superseded {
				var entries []string
				entries, err = opts.testbed().PruneCache(cmd.Context())
				removed = append(removed, entries...)
			}
			for _, what := range removed {
				opts.report.Printf("removed %s", what)
			}
			if err == nil && len(removed) == 0 {
				opts.report.Printf("nothing to remove")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&superseded, "superseded", false, "also remove cache entries that the current recipes no longer use")
	return cmd
}

func newListCommand(opts *options) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List clusters and their nodes",
		Args:  asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			clusters, err := opts.testbed().Clusters()
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(out, "CLUSTER\tPHASE\tKUBERNETES\tNODE\tROLE\tZONE\tADDRESS\tSTATE")
			for _, c := range clusters {
				for _, n := range c.Hosts() {
					fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
						c.Name(), c.Phase(), c.Spec().Kubernetes, n.Name(), n.Role(), n.Zone(), n.Address(), n.State())
				}
			}
			return out.Flush()
		},
	}
}

func newKubeconfigCommand(opts *options) *cobra.Command {
	var name string
	var path bool
	cmd := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the admin kubeconfig of a cluster",
		Example: "  testbed kubeconfig --name demo > demo.conf\n  export KUBECONFIG=$(testbed kubeconfig --name demo --path)",
		Args:    asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := opts.testbed().Cluster(name)
			if err != nil {
				return err
			}
			if path {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), c.KubeconfigFile())
				return err
			}
			return printFile(cmd.OutOrStdout(), c.KubeconfigFile())
		},
	}
	nameFlag(cmd, &name)
	cmd.Flags().BoolVar(&path, "path", false, "print only the path of the file")
	return cmd
}
