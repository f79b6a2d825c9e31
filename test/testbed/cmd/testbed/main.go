// Command testbed builds and runs real Kubernetes clusters on one Linux machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/test/testbed/progress"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// options are the global flags and the progress reporter.
type options struct {
	cache  string
	report *progress.Reporter
}

// subcommands lists all subcommands.
var subcommands = []func(*options) *cobra.Command{
	newBuildCommand,       // build binaries, images and packages
	newCollectCommand,     // collect those of one version
	newUpCommand,          // create a cluster
	newDownCommand,        // remove it
	newPruneCommand,       // remove leftovers of killed runs
	newListCommand,        // list clusters and nodes
	newKubeconfigCommand,  // print the kubeconfig
	newNodeCommand,        // power a node, inject and remove faults
	newExecCommand,        // run a command in a node
	newCopyCommand,        // copy to and from a node
	newLogsCommand,        // read a node's journal
	newLoadImagesCommand,  // import container images
	newSmokeCommand,       // smoke-test a cluster
	newUpgradeBareCommand, // the baseline: plain kubeadm
	newSampleCommand,      // measure availability
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process immediately, in case the cleanup hangs.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if exit, ok := errors.AsType[exitError](err); ok {
		return int(exit)
	}
	fmt.Fprintln(os.Stderr, "testbed:", err)
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

func newRootCommand() *cobra.Command {
	opts := &options{report: progress.New(os.Stderr)}
	root := &cobra.Command{
		Use:           "testbed",
		Short:         "Build and run real Kubernetes clusters on one Linux machine",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          asUsage(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&opts.cache, "cache", defaultCache(), "`directory` of the build cache")
	for _, subcommand := range subcommands {
		root.AddCommand(subcommand(opts))
	}
	return root
}

// defaultCache is ${XDG_CACHE_HOME:-$HOME/.cache}/refit-testbed.
func defaultCache() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), "cache")
	}
	return filepath.Join(base, "refit-testbed")
}

// A usageError is an invalid command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// asUsage converts the error of an argument check to a usageError.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
