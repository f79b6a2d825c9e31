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

// roles are the words that a person uses.
var roles = map[string]refitv1alpha1.Role{
	"first-control-plane": refitv1alpha1.RoleFirstControlPlane,
	"control-plane":       refitv1alpha1.RoleControlPlane,
	"worker":              refitv1alpha1.RoleWorker,
}

func (a *app) steps() *cobra.Command {
	c := &cobra.Command{
		Use:   "steps --role ROLE --to VERSION",
		Short: "Print what would be done to a host, step by step, and what becomes of each step on the way back",
		Example: `  refit-agent steps --role control-plane --to v1.36.3
  refit-agent steps --role worker --to v1.36.3 --containerd`,
		Args: cobra.NoArgs,
	}
	role := c.Flags().String("role", "", "first-control-plane, control-plane or worker")
	to := c.Flags().String("to", "", "the version of Kubernetes")
	external := c.Flags().Bool("external-etcd", false, "etcd runs elsewhere")
	containerd := c.Flags().Bool("containerd", false, "the ClusterRelease brings another containerd")
	c.RunE = func(*cobra.Command, []string) error {
		w := node.Upgrade{Role: roles[*role], To: *to}
		if w.Role == "" {
			return fmt.Errorf("--role is one of first-control-plane, control-plane, worker, not %q", *role)
		}
		if _, known := kubefacts.For(*to); !known {
			return fmt.Errorf("--to %q: this agent knows Kubernetes %s", *to, strings.Join(kubefacts.Supported(), ", "))
		}
		w.StopAPIServer = true
		w.Etcd = w.Role != refitv1alpha1.RoleWorker && !*external
		if *containerd {
			w.Parts = append(w.Parts, refitv1alpha1.PartContainerd)
		}
		return a.printSteps(node.Steps(w))
	}
	return c
}

func (a *app) printSteps(steps []node.Step) error {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STEP\tPERMIT\tDISRUPTS\tON THE WAY BACK\tAT MOST\tWHAT")
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
