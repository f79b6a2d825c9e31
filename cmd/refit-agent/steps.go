package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// roles are the values of --role.
var roles = map[string]refitv1alpha1.Role{
	"first-control-plane": refitv1alpha1.RoleFirstControlPlane,
	"control-plane":       refitv1alpha1.RoleControlPlane,
	"worker":              refitv1alpha1.RoleWorker,
}

func (a *app) steps() *cobra.Command {
	c := &cobra.Command{
		Use:   "steps --role ROLE --to VERSION",
		Short: "Print the steps of an upgrade, and how a rollback undoes each of them",
		Example: `  # Print the steps of a control plane node
  refit-agent steps --role control-plane --to v1.36.3

  # Print the steps of a worker with a containerd upgrade
  refit-agent steps --role worker --to v1.36.3 --containerd`,
		Args: noArguments,
	}
	role := c.Flags().String("role", "", "`role` of the host: first-control-plane, control-plane or worker")
	to := c.Flags().String("to", "", "target `version` of Kubernetes")
	external := c.Flags().Bool("external-etcd", false, "etcd is external")
	containerd := c.Flags().Bool("containerd", false, "the ClusterRelease upgrades containerd")
	c.RunE = func(*cobra.Command, []string) error {
		u := node.Upgrade{Role: roles[*role], To: *to}
		if u.Role == "" {
			return usagef("--role must be first-control-plane, control-plane or worker, not %q", *role)
		}
		if _, known := kubefacts.For(*to); !known {
			return usagef("--to %q: this agent supports Kubernetes %s", *to, strings.Join(kubefacts.Supported(), ", "))
		}
		u.StopAPIServer = true
		u.Etcd = u.Role != refitv1alpha1.RoleWorker && !*external
		if *containerd {
			u.Parts = append(u.Parts, refitv1alpha1.PartContainerd)
		}
		return a.printSteps(node.Steps(u))
	}
	return c
}

func (a *app) printSteps(steps []node.Step) error {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STEP\tPERMIT\tDISRUPTS\tROLLBACK\tTIMEOUT\tDESCRIPTION")
	for _, s := range steps {
		permit, disrupts := "Apply", "-"
		if s.Prefetch {
			permit = "Prefetch"
		}
		if s.Disrupts {
			disrupts = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, permit, disrupts, s.Undo, s.Limit, s.Description)
	}
	return table.Flush()
}
