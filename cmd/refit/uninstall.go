package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/install"
)

// uninstallFlags is what `refit uninstall` is given.
type uninstallFlags struct {
	kubeconfig
	format
	chosen
	yes     bool
	timeout time.Duration
}

func newUninstallCommand(a *app) *cobra.Command {
	u := &uninstallFlags{}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove Refit from a cluster and from its hosts",
		Long: `Removes Refit with everything that it brought: its agents and their files from every host that can
be reached, then its objects, with all operations, reports and ClusterReleases. Cordons that Refit
made are lifted. What was upgraded stays as it is. It acts with your own rights.

Without --yes it only tells what it would do. While an operation is unfinished it refuses; a host
that is in the midst of a work is left alone, and so is all the rest, until that has ended. What has
no label of Refit's is left and named. A removal that was cut off goes on when it is said again.

Exits with 1 if hosts could not be reached: they keep their agent.`,
		Example: a.example("uninstall", "uninstall --yes"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return u.run(cmd, a) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&u.yes, "yes", false, "do it; without this flag only what would be done is told")
	flags.DurationVar(&u.timeout, "timeout", 10*time.Minute, "how long it may take")
	u.addRepositoryFlag(cmd)
	u.kubeconfig.addFlags(cmd)
	u.format.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func (u *uninstallFlags) run(cmd *cobra.Command, a *app) error {
	if err := u.check(); err != nil {
		return err
	}
	if u.timeout <= 0 {
		return usage("--timeout: %s is no time to remove Refit in", u.timeout)
	}
	if err := u.read(); err != nil {
		return err
	}
	config, name, err := u.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), u.timeout)
	defer cancel()
	if _, err := reach(ctx, config); err != nil {
		return err
	}
	cluster, err := a.installer(config)
	if err != nil {
		return err
	}
	options, err := u.options(install.Existing{})
	if err != nil {
		return err
	}
	survey, err := cluster.Survey(ctx, options)
	if err != nil {
		return late(ctx, err)
	}
	answer := surveyed(name, survey)
	again := a.line(cmd, cmd.Name())
	if !u.yes || !answer.Installed {
		return u.tell(a, answer, again)
	}
	a.changing = true
	t := newTale(a, "removed")
	removed, err := cluster.Remove(ctx, options, t.told())
	if err != nil {
		return u.stopped(ctx, err, removed)
	}
	answer.Done, answer.Objects = true, installation.Objects(removed.Changes)
	answer.Cordoned, answer.Nodes = removed.Uncordoned, installation.Hosts(removed.Nodes)
	if err := u.tell(a, answer, again); err != nil {
		return err
	}
	if left := notDone(removed.Nodes); left > 0 {
		return fmt.Errorf("%d of %d hosts could not be reached and keep their agent", left, len(removed.Nodes))
	}
	return nil
}

// surveyed is what would be done.
func surveyed(cluster string, s install.Survey) *cliv1alpha1.Uninstall {
	answer := &cliv1alpha1.Uninstall{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindUninstall, Cluster: cluster, Version: s.Version, Installed: s.Installed(),
		Objects: installation.Objects(s.Objects), Content: map[string]int{}, Cordoned: s.Cordoned,
	}
	for _, c := range s.Content {
		answer.Content[c.Resource] = c.Number
	}
	for _, node := range s.Nodes {
		answer.Nodes = append(answer.Nodes, cliv1alpha1.HostState{Node: node, State: string(install.Waiting)})
	}
	for _, node := range s.Away {
		answer.Nodes = append(answer.Nodes, cliv1alpha1.HostState{Node: node, State: string(install.Away)})
	}
	return answer
}

// stopped is a removal that did not come to its end.
func (u *uninstallFlags) stopped(ctx context.Context, err error, removed install.Removal) error {
	if !errors.Is(err, install.ErrNotDone) {
		return late(ctx, err)
	}
	for _, n := range removed.Nodes {
		if n.State != install.Done && n.State != install.Away {
			return timeoutError{fmt.Errorf("%w; %s: %s: %s. The same command goes on", err, n.Node, text.State(string(n.State), "removed"), n.Why)}
		}
	}
	return late(ctx, err)
}

func notDone(nodes []install.NodeProgress) (n int) {
	for _, node := range nodes {
		if node.State != install.Done {
			n++
		}
	}
	return n
}

func (u *uninstallFlags) tell(a *app, answer *cliv1alpha1.Uninstall, again string) error {
	if u.output != formatText {
		return u.print(a, answer)
	}
	return a.write([]byte(text.Uninstall(answer, a.page(u.wide), again)))
}
