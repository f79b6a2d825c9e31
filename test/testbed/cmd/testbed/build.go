package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// nodeImageFlags select the node images to build.
type nodeImageFlags struct {
	installs    []string
	containerds []string
}

func newBuildCommand(opts *options) *cobra.Command {
	var kubernetes, addons []string
	var nodes nodeImageFlags
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the binaries, images and packages of Kubernetes versions into the cache",
		Long: "Build the binaries, images and packages of Kubernetes versions into the cache.\n" +
			"An interrupted build continues when you run the command again.",
		Example: "  testbed build --kubernetes v1.35.4,v1.36.3\n  testbed build --addons metrics-server,lws",
		Args:    asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(kubernetes) == 0 && len(addons) == 0 {
				return usageError{fmt.Errorf("--kubernetes or --addons is required; supported versions: %s", strings.Join(versions.Kubernetes(), ", "))}
			}
			if err := buildAddons(cmd.Context(), opts, addons); err != nil || len(kubernetes) == 0 {
				return err
			}
			for _, version := range kubernetes {
				if _, err := versions.Lookup(version); err != nil {
					return usageError{err}
				}
			}
			specs, err := nodes.specs(kubernetes)
			if err != nil {
				return usageError{err}
			}
			if err := machine.Require(builder.Tools...); err != nil {
				return err
			}
			b := builder.New(opts.cache, opts.report)
			missing, err := b.Missing(cmd.Context(), kubernetes, specs...)
			if err != nil {
				return err
			}
			announce(opts.report, opts.cache, missing)
			if err := b.Build(cmd.Context(), kubernetes); err != nil {
				return err
			}
			for _, spec := range specs {
				if _, err := b.NodeImage(cmd.Context(), spec); err != nil {
					return err
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&kubernetes, "kubernetes", nil, "versions to build, such as v1.35.4,v1.36.3")
	flags.StringSliceVar(&addons, "addons", nil, "also build these components for tests, in both versions: "+strings.Join(builder.Addons(), ", "))
	flags.StringSliceVar(&nodes.installs, "node-install", nil, "also build node images with Kubernetes installed this way: binaries, deb, rpm")
	flags.StringSliceVar(&nodes.containerds, "node-containerd", []string{builder.ContainerdBuilt},
		"containerd of those node images: debian, "+builder.ContainerdBuilt)
	return cmd
}

// buildAddons builds both versions of each add-on.
func buildAddons(ctx context.Context, opts *options, names []string) error {
	for _, name := range names {
		if !slices.Contains(builder.Addons(), name) {
			return usageError{fmt.Errorf("the testbed has no add-on %s; it has %s", name, strings.Join(builder.Addons(), ", "))}
		}
	}
	b := builder.New(opts.cache, opts.report)
	for _, name := range names {
		if _, _, err := b.Addon(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func newCollectCommand(opts *options) *cobra.Command {
	var kubernetes, to string
	var rpms bool
	cmd := &cobra.Command{
		Use:     "collect --kubernetes VERSION --to DIRECTORY",
		Short:   "Collect the binaries, packages and images of a Kubernetes version in a directory, like a mirror",
		Example: "  testbed collect --kubernetes v1.36.3 --to mirror",
		Args:    asUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := versions.Lookup(kubernetes); err != nil {
				return usageError{err}
			}
			if to == "" {
				return usageError{errors.New("--to is required")}
			}
			b := builder.New(opts.cache, opts.report)
			release, err := b.Release(cmd.Context(), kubernetes)
			if err == nil && rpms {
				release, err = b.WithRpms(cmd.Context(), release)
			}
			if err != nil {
				return err
			}
			return release.Collect(to)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubernetes, "kubernetes", "", "the version, such as v1.36.3")
	flags.StringVar(&to, "to", "", "`directory` to create")
	flags.BoolVar(&rpms, "rpm", false, "also collect rpm packages")
	return cmd
}

// specs returns every requested combination.
func (f nodeImageFlags) specs(kubernetes []string) ([]builder.NodeImageSpec, error) {
	var specs []builder.NodeImageSpec
	for _, version := range kubernetes {
		for _, install := range f.installs {
			for _, containerd := range f.containerds {
				spec := builder.NodeImageSpec{Kubernetes: version, Install: install, Containerd: containerd}
				if err := spec.Validate(); err != nil {
					return nil, err
				}
				specs = append(specs, spec)
			}
		}
	}
	return specs, nil
}

// announce prints what will be built and how long it may take.
func announce(report *progress.Reporter, cache string, missing []builder.Work) {
	if len(missing) == 0 {
		report.Printf("everything is already built in %s", cache)
		return
	}
	report.Printf("building into %s:", cache)
	for _, work := range missing {
		report.Printf("  %s", fmt.Sprintf("%-40s %8s", work.Name, progress.Seconds(work.Usually)))
	}
	report.Printf("usually %s in total on a small machine, much less with a warm Go build cache", progress.Seconds(builder.Total(missing)))
}
