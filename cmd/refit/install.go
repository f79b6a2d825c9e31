package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/install"
)

// installer is a cluster that Refit is brought into: *install.Cluster.
type installer interface {
	Existing(ctx context.Context) (install.Existing, error)
	Apply(ctx context.Context, objects []*unstructured.Unstructured, version string, dryRun bool, told install.Told) ([]install.Change, error)
	Follow(ctx context.Context, objects []*unstructured.Unstructured, told install.Told) (install.Progress, error)
	Survey(ctx context.Context, o install.Options) (install.Survey, error)
	Remove(ctx context.Context, o install.Options, told install.Told) (install.Removal, error)
}

func newInstaller(config *rest.Config) (installer, error) { return install.New(config) }

// installFlags is what `refit install` is given.
type installFlags struct {
	kubeconfig
	format
	chosen
	dryRun, render bool
	timeout        time.Duration
}

func newInstallCommand(a *app) *cobra.Command {
	i := &installFlags{}
	cmd := &cobra.Command{
		Use:   "install --release-key FILE",
		Short: "Install Refit into a cluster, and its agent on every host",
		Long: `Brings into a cluster what Refit needs: its kinds of objects, rights, admission policies, the
controller, and a DaemonSet that places the agent on every node, also on those that come later. The
agent is a service of the host; the pod that places it is privileged until it has done so, and then
only pauses. The public keys that are given are pinned on the hosts: a host installs nothing that
is not signed by one of them.

It can be repeated, and brings a newer Refit the same way: what is as it should be stays as it is,
and what an earlier install brought and this one does not is removed. Keys, sources and the images'
repository that are not given stay as they are. It waits until the agents are placed and tells how
far each node is. While an operation is unfinished it refuses.

With --standalone the controller is left out: the controllers then run with the command itself.
With --render the manifests are printed for kubectl apply --server-side, and no cluster is asked.

Exits with 4 if not every node that is ready has its agent when the time is over.`,
		Example: a.example(
			"install --release-key keys/refit-release.pem --source https://mirror.example/refit",
			"install --dry-run",
			"install --standalone --release-key keys/refit-release.pem --image-repository registry.example/refit",
			"install --render --release-key keys/refit-release.pem > refit.yaml",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return i.run(cmd.Context(), a) },
	}
	i.chosen.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&i.standalone, "standalone", false, "leave the controller out")
	flags.BoolVar(&i.dryRun, "dry-run", false, "let the API server tell what would change, and change nothing")
	flags.BoolVar(&i.render, "render", false, "print the manifests, and ask no cluster")
	flags.DurationVar(&i.timeout, "timeout", 10*time.Minute, "how long to wait for agents and controller")
	flags.BoolVar(&i.wide, "wide", false, "list every object and field instead of folding long lists")
	i.kubeconfig.addFlags(cmd)
	i.format.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func (i *installFlags) run(ctx context.Context, a *app) error {
	if err := i.check(); err != nil {
		return err
	}
	switch {
	case i.render && i.dryRun:
		return usage("--render asks no cluster, so there is nothing to try with --dry-run: give one of them")
	case i.timeout <= 0:
		return usage("--timeout: %s is no time to install in", i.timeout)
	}
	if err := i.read(); err != nil {
		return err
	}
	if i.render {
		return i.write(a)
	}
	return i.apply(ctx, a)
}

// write writes the manifests.
func (i *installFlags) write(a *app) error {
	options, err := i.options(install.Existing{})
	if err != nil {
		return err
	}
	objects, err := install.Render(options)
	if err != nil {
		return keysMissing(err)
	}
	for _, object := range objects {
		out, err := document.YAML(object.Object)
		if err != nil {
			return err
		}
		if err := a.write(append([]byte("---\n"), out...)); err != nil {
			return err
		}
	}
	return nil
}

// keysMissing says how a key is given.
func keysMissing(err error) error {
	if errors.Is(err, install.ErrNoKeys) {
		return usage("%w: give its public key with --release-key", err)
	}
	return err
}

func (i *installFlags) apply(ctx context.Context, a *app) error {
	config, name, err := i.load()
	if err != nil {
		return err
	}
	if _, err := reach(ctx, config); err != nil {
		return err
	}
	cluster, err := a.installer(config)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, i.timeout)
	defer cancel()
	existing, err := cluster.Existing(limited)
	if err != nil {
		return err
	}
	options, err := i.options(existing)
	if err != nil {
		return err
	}
	objects, err := install.Render(options)
	if err != nil {
		return keysMissing(err)
	}
	a.changing = !i.dryRun
	answer := i.answer(name, existing, options)
	t := newTale(a, "placed")
	if i.dryRun {
		t.doing(fmt.Sprintf("Asking %s what would become of %d objects", name, len(objects)))
	} else {
		t.doing(fmt.Sprintf("Applying %d objects to %s", len(objects), name))
	}
	changes, err := cluster.Apply(limited, objects, options.Version, i.dryRun, install.Told{})
	if err != nil {
		return late(limited, err)
	}
	answer.Objects = installation.Objects(changes)
	if i.dryRun {
		return i.tell(a, answer)
	}
	t.doing("Waiting for the nodes")
	reached, err := cluster.Follow(limited, objects, t.told())
	if err != nil && !errors.Is(err, install.ErrNotDone) {
		return late(limited, err)
	}
	answer.Nodes, answer.Controller, answer.Complete = installation.Hosts(reached.Nodes), installation.Controller(reached.Controller), err == nil
	if told := i.tell(a, answer); told != nil || err == nil {
		return told
	}
	return timeoutError{fmt.Errorf("not everything runs after %s: give it more with --timeout, or mend what fails", i.timeout)}
}

// late is an error that a deadline may have caused.
func late(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return timeoutError{fmt.Errorf("%w: give it more with --timeout; the same command goes on", err)}
	}
	return err
}

func (i *installFlags) answer(cluster string, existing install.Existing, o install.Options) *cliv1alpha1.Install {
	answer := &cliv1alpha1.Install{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindInstall, Cluster: cluster, Version: o.Version, Former: existing.Version,
		DryRun: i.dryRun, Standalone: o.Standalone, AgentImage: o.Agent, ControllerImage: o.Controller, Keys: []string{},
	}
	if o.Standalone {
		answer.ControllerImage = ""
	}
	for _, name := range slices.Sorted(maps.Keys(o.Keys)) {
		if key, err := artifact.ParsePublic([]byte(o.Keys[name])); err == nil {
			name = key.ID
		}
		answer.Keys = append(answer.Keys, name)
	}
	return answer
}

func (i *installFlags) tell(a *app, answer *cliv1alpha1.Install) error {
	if i.output != formatText {
		return i.print(a, answer)
	}
	return a.write([]byte(text.Install(answer, a.page(i.wide), a.name)))
}
