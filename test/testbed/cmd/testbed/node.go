package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// nodeAction is an action on a node.
type nodeAction struct {
	name, label, short string
	act                func(n *cluster.Node, ctx context.Context, label string) error
}

// nodeActions lists the actions of `testbed node NAME`.
var nodeActions = []nodeAction{
	{"poweroff", "", "shut down cleanly", plain((*cluster.Node).Poweroff)},
	{"start", "", "boot", plain((*cluster.Node).Start)},
	{"reboot", "", "shut down cleanly and boot", plain((*cluster.Node).Reboot)},
	{"kill", "", "cut the power: all processes die at once, and a separate disk loses unsynced data", plain((*cluster.Node).Kill)},
	{"freeze", "", "freeze every process", atOnce((*cluster.Node).Freeze)},
	{"thaw", "", "resume a frozen node", atOnce((*cluster.Node).Thaw)},
	{"partition", "", "disconnect the network", atOnce((*cluster.Node).Partition)},
	{"heal", "", "reconnect the network", atOnce((*cluster.Node).Heal)},
	{"save", "LABEL", "save the disk of a node that is off", (*cluster.Node).SaveDisk},
	{"restore", "LABEL", "restore a saved disk of a node that is off", (*cluster.Node).RestoreDisk},
}

// plain and atOnce adapt actions without a label or a context.
func plain(act func(*cluster.Node, context.Context) error) func(*cluster.Node, context.Context, string) error {
	return func(n *cluster.Node, ctx context.Context, _ string) error { return act(n, ctx) }
}

func atOnce(act func(*cluster.Node) error) func(*cluster.Node, context.Context, string) error {
	return func(n *cluster.Node, _ context.Context, _ string) error { return act(n) }
}

func newNodeCommand(opts *options) *cobra.Command {
	var help strings.Builder
	for _, a := range nodeActions {
		fmt.Fprintf(&help, "  %-16s %s\n", strings.TrimSpace(a.name+" "+a.label), a.short)
	}
	return &cobra.Command{
		Use:     "node NAME ACTION [LABEL]",
		Short:   "Power a node, inject and remove faults",
		Long:    "Power a node, inject and remove faults. Actions:\n\n" + help.String(),
		Example: "  testbed node demo-worker-1 kill\n  testbed node demo-worker-1 start",
		Args:    asUsage(cobra.RangeArgs(2, 3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			action, label, err := chooseAction(args[1:])
			if err != nil {
				return usageError{err}
			}
			n, err := opts.testbed().Node(args[0])
			if err != nil {
				return err
			}
			return opts.report.Step(n.Name()+": "+action.name, 0, func() error { return action.act(n, cmd.Context(), label) })
		},
	}
}

func chooseAction(args []string) (action nodeAction, label string, err error) {
	var names []string
	for _, a := range nodeActions {
		names = append(names, a.name)
		if a.name != args[0] {
			continue
		}
		if (a.label != "") != (len(args) == 2) {
			return a, "", fmt.Errorf("want: testbed node NAME %s", strings.TrimSpace(a.name+" "+a.label))
		}
		if len(args) == 2 {
			label = args[1]
		}
		return a, label, nil
	}
	return action, "", fmt.Errorf("action %q: want one of %s", args[0], strings.Join(names, ", "))
}

func newExecCommand(opts *options) *cobra.Command {
	return &cobra.Command{
		Use:     "exec NODE -- COMMAND [ARGUMENT...]",
		Short:   "Run a command as root in a node and exit with its exit code",
		Example: "  testbed exec demo-cp-1 -- ctr -n k8s.io tasks ls\n  testbed exec demo-cp-1 -- bash",
		Args:    asUsage(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := opts.testbed().Node(args[0])
			if err != nil {
				return err
			}
			err = n.ExecStreams(cmd.Context(), cluster.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, args[1:]...)
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() > 0 {
				return exitError(exit.ExitCode())
			}
			return err
		},
	}
}

// exitError is the exit code of a command that failed in a node and printed its own error.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func newCopyCommand(opts *options) *cobra.Command {
	return &cobra.Command{
		Use:   "cp SOURCE TARGET",
		Short: "Copy a file, or the content of a directory, to or from a node",
		Long: "Copy a file to the target path, or the content of a directory into the target directory.\n" +
			"One of the two must be NODE:PATH. If the node is off, its disk is used.",
		Example: "  testbed cp ./kubelet demo-worker-1:/usr/local/bin/kubelet.new\n  testbed cp demo-cp-1:/etc/kubernetes ./kubernetes",
		Args:    asUsage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			fromNode, from, isFrom := strings.Cut(args[0], ":")
			toNode, to, isTo := strings.Cut(args[1], ":")
			if isFrom == isTo {
				return usageError{errors.New("one of source and target must be NODE:PATH")}
			}
			name := fromNode
			if isTo {
				name = toNode
			}
			n, err := opts.testbed().Node(name)
			if err != nil {
				return err
			}
			if isTo {
				return n.CopyTo(cmd.Context(), args[0], to)
			}
			return n.CopyFrom(cmd.Context(), from, args[1])
		},
	}
}

func newLogsCommand(opts *options) *cobra.Command {
	var unit string
	var lines int
	var follow, console bool
	cmd := &cobra.Command{
		Use:     "logs NODE",
		Short:   "Print the journal of a node, even if it is off",
		Example: "  testbed logs demo-worker-1 --unit kubelet --follow",
		Args:    asUsage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := opts.testbed().Node(args[0])
			if err != nil {
				return err
			}
			if console {
				return printFile(cmd.OutOrStdout(), n.ConsoleFile())
			}
			return n.Journal(cmd.Context(), cmd.OutOrStdout(), cluster.JournalOptions{Unit: unit, Lines: lines, Follow: follow})
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&unit, "unit", "u", "", "only this unit, such as kubelet")
	flags.IntVarP(&lines, "lines", "n", 200, "number of lines to print; 0 means all")
	flags.BoolVarP(&follow, "follow", "f", false, "follow the journal")
	flags.BoolVar(&console, "console", false, "print the console with systemd's boot messages instead")
	return cmd
}

func newLoadImagesCommand(opts *options) *cobra.Command {
	var name, kubernetes string
	cmd := &cobra.Command{
		Use:     "load-images [ARCHIVE...]",
		Short:   "Import image archives, or the images of a Kubernetes version, on every node",
		Example: "  testbed load-images --name demo --kubernetes v1.36.3\n  testbed load-images --name demo app.tar",
		RunE: func(cmd *cobra.Command, archives []string) error {
			if (kubernetes == "") == (len(archives) == 0) {
				return usageError{errors.New("specify either archives or --kubernetes")}
			}
			c, err := opts.testbed().Cluster(name)
			if err != nil {
				return err
			}
			return opts.report.Step("importing images on the nodes of "+name, 0, func() error {
				if kubernetes != "" {
					return c.LoadRelease(cmd.Context(), kubernetes)
				}
				return c.LoadImages(cmd.Context(), archives)
			})
		},
	}
	nameFlag(cmd, &name)
	cmd.Flags().StringVar(&kubernetes, "kubernetes", "", "import the images of this version from the cache")
	return cmd
}

func printFile(out io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(out, f)
	return err
}
