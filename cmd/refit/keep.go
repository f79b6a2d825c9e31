package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/keeping"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newKeepCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	keeper := &keeping.Keeper{Confirm: a.Confirm, Changing: func() { a.changing = true }, Err: a.Err}
	cmd := &cobra.Command{
		Use:   "keep NODE",
		Short: "Keep security settings that only a node's static pods have",
		Long: `Keep the security settings that were added manually to the static pod manifests of a control plane
node (audit, authentication, authorization, admission, encryption, TLS), and that an upgrade would
remove. The command adds the flags and mounts to the kubeadm configuration of the cluster (extraArgs
and extraVolumes in the ConfigMap kube-system/kubeadm-config), shows the change as a diff, and
prompts for confirmation. It acts with your own permissions and does not change running pods.

Settings that differ between control plane nodes are not kept: the command exits with 1 and prints a
kubeadm patch for the host.`,
		Example: a.example("# Show what would be kept, and keep it", "keep cp-1", "# Keep it without a prompt", "keep cp-1 --yes"),
		Args:    nodeArgument("cp-1"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := a.connect(cmd.Context(), &k)
			if err != nil {
				return err
			}
			now, err := connect.Clock(cmd.Context(), c.config, a.Now)
			if err != nil {
				return err
			}
			keeper.Out, keeper.Page = a.Out, a.Page(false)
			if f.output != formatText {
				keeper.Out = a.Err // the result is the only document
			}
			result, err := keeper.Keep(cmd.Context(), keeping.Cluster{Client: c.Client, Name: c.Name, Now: now, List: c.List}, args[0])
			if result == nil {
				return err
			}
			return cmp.Or(f.print(a, result, func() string { return text.Keep(result, a.Page(false)) }), err)
		},
	}
	cmd.Flags().BoolVarP(&keeper.Confirmed, "yes", "y", false, "skip the confirmation prompt")
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
