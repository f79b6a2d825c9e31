package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
)

// view is a command that reads objects of a cluster and prints them.
type view struct {
	use, short, long string
	example          []string
	args             cobra.PositionalArgs
	wide             string // the help of --wide; empty if there is no such flag
	operations       bool   // the argument is the name of an operation
	// read returns the document, and its text.
	read func(r *reading) (document any, text func() string, err error)
}

// reading is one run of a view.
type reading struct {
	*connection
	*cobra.Command
	name string // the argument, if there is one
	wide bool
}

func (a *app) newView(v *view) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	cmd := &cobra.Command{Use: v.use, Short: v.short, Long: v.long, Example: a.example(v.example...), Args: v.args}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		c, err := a.connect(cmd.Context(), &k)
		if err != nil {
			return err
		}
		document, text, err := v.read(&reading{c, cmd, firstOf(args), f.wide})
		if err != nil {
			return err
		}
		return f.print(a, document, text)
	}
	if v.operations {
		cmd.ValidArgsFunction = a.completeOperations(&k)
	}
	if v.wide != "" {
		cmd.Flags().BoolVar(&f.wide, "wide", false, v.wide)
	}
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
