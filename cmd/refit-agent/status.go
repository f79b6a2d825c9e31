package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
)

func (a *app) status() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Say how far the work on this host is, from its journal",
		Args:  cobra.NoArgs,
	}
	c.RunE = func(*cobra.Command, []string) error {
		s, err := a.load()
		if err != nil {
			return err
		}
		status, err := agent.Status(s)
		if err != nil {
			return err
		}
		a.printStatus(status)
		return nil
	}
	return c
}

func (a *app) printStatus(s agent.LocalStatus) {
	fmt.Fprintf(a.out, "Machine:   %s\n", s.Host.MachineID)
	fmt.Fprintf(a.out, "Orders:    sequence %d and epoch %d are the highest that were accepted\n", s.Host.Sequence, s.Host.Epoch)
	if s.State == nil {
		fmt.Fprintln(a.out, "Work:      none yet")
		return
	}
	w := s.State.Upgrade
	told := s.State.Status()
	fmt.Fprintf(a.out, "Work:      %s (%s to %s, %s), operation %s\nPhase:     %s\n", w.Release.Name, w.From, w.To, w.Role, w.Operation.Name, told.Phase)
	if e := told.Error; e != nil {
		fmt.Fprintf(a.out, "Failed at: %s (%s, %s)\n  %s\n  what to do: %s\n", e.Step, e.Class, e.Reason, e.Message, e.Remedy)
		for line := range strings.Lines(e.LogTail) {
			fmt.Fprint(a.out, "  | "+strings.TrimRight(line, "\n")+"\n")
		}
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nSTEP\tSTATE\tBEGAN\tTOOK")
	for _, step := range told.Steps {
		began, took := "-", "-"
		if step.StartTime != nil {
			began = step.StartTime.Format(time.TimeOnly)
			if step.CompletionTime != nil {
				took = step.CompletionTime.Sub(step.StartTime.Time).String()
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", step.Name, step.State, began, took)
	}
	_ = table.Flush() // a.out is the terminal
	a.printList("Left as it is by the rollback", s.State.Left)
}
