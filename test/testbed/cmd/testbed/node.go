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

// nodeAction is one thing that can be done to a node.
type nodeAction struct {
	name, label, short string
	act                func(n *cluster.Node, ctx context.Context, label string) error
}

// nodeActions is everything that `testbed node NAME` can do, faults first.
var nodeActions = []nodeAction{
	{"poweroff", "", "shut it down as its power button would", plain((*cluster.Node).Poweroff)},
	{"start", "", "boot it", plain((*cluster.Node).Start)},
	{"reboot", "", "shut it down and boot it", plain((*cluster.Node).Reboot)},
	{"kill", "", "cut its power: all processes die at once, a disk of its own loses what was not synced", plain((*cluster.Node).Kill)},
	{"freeze", "", "stop every process where it stands", atOnce((*cluster.Node).Freeze)},
	{"thaw", "", "let a frozen node run on", atOnce((*cluster.Node).Thaw)},
	{"partition", "", "pull its network cable", atOnce((*cluster.Node).Partition)},
	{"heal", "", "put the cable back", atOnce((*cluster.Node).Heal)},
	{"save", "LABEL", "keep the disk of a node that is off", (*cluster.Node).SaveDisk},
	{"restore", "LABEL", "put a kept disk back into a node that is off", (*cluster.Node).RestoreDisk},
}

// plain and atOnce give actions without a label, or without waiting, the shape of the others.
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
		Short:   "Power, break and mend a node",
		Long:    "Power, break and mend a node. Actions:\n\n" + help.String(),
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
		Short:   "Run a command as root in a node; its exit code becomes ours",
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

// exitError is the code of a command that ran in a node and failed there: it said why itself.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func newCopyCommand(opts *options) *cobra.Command {
	return &cobra.Command{
		Use:   "cp SOURCE TARGET",
		Short: "Copy a file, or a directory's content, to or from a node",
		Long: "Copy a file to exactly the target's path, or a directory's content into the target directory.\n" +
			"One of the two is NODE:PATH. A node that is off is read and written on its disk.",
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
		Short:   "Print the journal of a node, also of one that is off",
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
	flags.IntVarP(&lines, "lines", "n", 200, "the last so many lines; 0 for all")
	flags.BoolVarP(&follow, "follow", "f", false, "go on with what comes")
	flags.BoolVar(&console, "console", false, "the console instead: what systemd said while booting")
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
				return usageError{errors.New("want either archives or --kubernetes")}
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
	cmd.Flags().StringVar(&kubernetes, "kubernetes", "", "the images of this version, from the cache")
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
