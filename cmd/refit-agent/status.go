package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
)

func (a *app) status() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Print the status of the last upgrade on this host, and of an unfinished restore",
		Long: `status prints the orders that this host accepted, and each step of its last upgrade. It reads files
of the host only, so it works without the API and beside the running service.

With --follow it connects to the socket of the running agent and prints each change until it is
interrupted. Root and members of the group refit can do that, also without the API.`,
		Example: `  # Print the status
  refit-agent status

  # Print a document for scripts
  refit-agent status -o json

  # Print a line for each change, also while the API server is down
  refit-agent status --follow`,
		Args: noArguments,
	}
	output := c.Flags().StringP("output", "o", outputText, "output `format`: text, json or yaml")
	follow := c.Flags().Bool("follow", false, "print each change, with -o json as a document per line")
	socket := c.Flags().String("socket", agentsocket.Path, "socket `file` of the agent, for --follow")
	c.RunE = func(c *cobra.Command, _ []string) error {
		format, err := parseOutput(*output, *follow)
		if err != nil {
			return err
		}
		if *follow {
			return a.follow(c.Context(), *socket, format)
		}
		s, err := a.load()
		if err != nil {
			return err
		}
		if format == outputText {
			return a.showStatus(s)
		}
		document, err := agent.StatusDocument(s, time.Now())
		if err != nil {
			return err
		}
		return writeDocument(a.out, document, format)
	}
	return c
}

// showStatus prints the status for an operator.
func (a *app) showStatus(s settings.Settings) error {
	restoring, err := agent.RestoreInProgress(s)
	if err != nil {
		return err
	}
	status, err := agent.Status(s)
	if err != nil {
		return err
	}
	a.printStatus(status)
	if restoring != nil {
		restoring.Print(a.out)
	}
	return nil
}

func (a *app) printStatus(s agent.LocalStatus) {
	fmt.Fprintf(a.out, "Machine:   %s\n", s.Host.MachineID)
	fmt.Fprintf(a.out, "Orders:    accepted up to sequence %d, epoch %d\n", s.Host.Sequence, s.Host.Epoch)
	if f := s.Host.Unresumed; f != nil {
		fmt.Fprintf(a.out, "Failed:    %s (%s)\n  remedy: %s\n", f.Message, f.Reason, f.Remedy)
	}
	if s.State == nil {
		fmt.Fprintln(a.out, "Upgrade:   none")
		return
	}
	u := s.State.Upgrade
	status := s.State.Status()
	fmt.Fprintf(a.out, "Upgrade:   %s (%s to %s, %s), operation %s\nPhase:     %s\n", u.Release.Name, u.From, u.To, u.Role, u.Operation.Name, status.Phase)
	if e := status.Error; e != nil {
		fmt.Fprintf(a.out, "Failed at: %s (%s, %s)\n  %s\n  remedy: %s\n", e.Step, e.Class, e.Reason, e.Message, e.Remedy)
		for line := range strings.Lines(e.LogTail) {
			fmt.Fprint(a.out, "  | "+strings.TrimRight(line, "\n")+"\n")
		}
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nSTEP\tSTATE\tSTARTED\tDURATION")
	for _, step := range status.Steps {
		started, duration := "-", "-"
		if step.StartTime != nil {
			started = step.StartTime.Format(time.TimeOnly)
			if step.CompletionTime != nil {
				duration = step.CompletionTime.Sub(step.StartTime.Time).String()
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", step.Name, step.State, started, duration)
	}
	_ = table.Flush() // a.out is the terminal
	a.printList("Not changed by the rollback", s.State.Left)
}
