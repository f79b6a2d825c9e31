package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/connect"
)

// view is a command that reads objects of a cluster and prints them.
type view struct {
	use, short, long string
	example          []string
	args             cobra.PositionalArgs
	wide             string                                      // what --wide lists every one of; empty if there is no such flag
	complete         func(context.Context, *connection) []string // the first argument in a shell; nil: nothing
	// flags adds the flags that only this command has; nil if there are none.
	flags func(cmd *cobra.Command)
	// check validates them and the arguments before there is a connection; nil if they are always
	// valid.
	check   func(args []string) error
	partial bool // a document is printed beside an error; without one, its text is nil
	// read returns the document, and its text.
	read func(r *reading) (document any, text func() string, err error)
}

// reading is one run of a view.
type reading struct {
	*connection
	*cobra.Command
	*format
	args []string
	name string // the first argument, if there is one
}

func (a *app) newView(v *view) *cobra.Command {
	var k connect.Kubeconfig
	var f format
	cmd := &cobra.Command{Use: v.use, Short: v.short, Long: v.long, Example: a.example(v.example...), Args: v.args}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.Check(); err != nil {
			return err
		}
		if v.check != nil {
			if err := v.check(args); err != nil {
				return err
			}
		}
		c, err := a.connect(cmd.Context(), &k)
		if err != nil {
			return err
		}
		document, text, err := v.read(&reading{c, cmd, &f, args, arguments.First(args)})
		if err != nil && (!v.partial || text == nil) {
			return err
		}
		return cmp.Or(a.PrintAs(&f.Format, document, text), err)
	}
	if v.flags != nil {
		v.flags(cmd)
	}
	if v.complete != nil {
		cmd.ValidArgsFunction = a.completeNames(&k, v.complete)
	}
	if v.wide != "" {
		f.addWideFlag(cmd, v.wide)
	}
	addKubeconfigFlags(cmd, &k)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}
