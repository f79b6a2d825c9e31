package restore

import (
	"fmt"
	"io"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Print prints what a restore does, what it discards, and why it is refused.
func (p Prepared) Print(to io.Writer) {
	plan := p.Restore.Plan
	if plan.Backup != "" {
		fmt.Fprintf(to, "Backup:     %s, revision %d, of %s\n", plan.Backup, plan.Revision, plan.Time.Format("2006-01-02 15:04:05 UTC"))
		fmt.Fprintf(to, "Digest:     %s\n", plan.Digest)
	}
	fmt.Fprintf(to, "Situation:  %s: %s\n", plan.Situation, plan.Situation.Description())
	fmt.Fprintf(to, "Member:     %s of %s, with %s\n", plan.Member, phrase.List(memberNames(plan)), plan.EtcdImage)
	fmt.Fprintf(to, "Old data:   kept in %s\n", p.Restore.OldData())
	fmt.Fprintln(to, "\nSteps:")
	for _, step := range restore.Steps(plan.Situation) {
		fmt.Fprintf(to, "  %-17s %s\n", step.Name, step.Does)
	}
	if p.Continues {
		return
	}
	if plan.Situation != restore.Replace {
		printList(to, "Lost", restore.Lost(p.Observation))
	}
	printRefusals(to, p.Decision.Refusals)
}

func printRefusals(to io.Writer, refusals []restore.Refusal) {
	var refused []string
	for _, r := range refusals {
		refused = append(refused, fmt.Sprintf("%s: %s\n    remedy: %s", r.Reason, r.Message, r.Remedy))
	}
	printList(to, "Blocking", refused)
}

// PrintResult prints what follows on other hosts.
func (p Prepared) PrintResult(to io.Writer, pending bool) {
	plan := p.Restore.Plan
	if !pending {
		fmt.Fprintf(to, "\nThe API serves. The old data of etcd is in %s; delete it when you do not need it.\n", p.Restore.OldData())
		return
	}
	fmt.Fprintf(to, "\nThis host is restored. Its API server starts as soon as etcd serves on %s.\n", phrase.List(plan.Remaining()))
	fmt.Fprintf(to, "\nNext, on %s:\n  %s --yes\n", plan.Remaining()[0], strings.Join(plan.Next(), " "))
}

// Print prints what a cancellation does, or why it is too late.
func (c Canceled) Print(to io.Writer) {
	plan := c.Restore.Plan
	fmt.Fprintf(to, "Restore:    %s\n", plan)
	fmt.Fprintf(to, "Old data:   moved back from %s\n", c.Restore.OldData())
	fmt.Fprintln(to, "Then etcd and kube-apiserver of this host start with the old data, and the restored data is removed.")
	if c.Final != "" {
		printList(to, "Blocking", []string{c.Final})
	}
}

// PrintResult prints which other hosts have the restored data.
func (c Canceled) PrintResult(to io.Writer) {
	plan := c.Restore.Plan
	fmt.Fprintln(to, "\nThe restore is canceled on this host. etcd and kube-apiserver start with the old data.")
	if plan.Situation == restore.All && len(plan.After) > 0 {
		fmt.Fprintf(to, "Cancel it on %s, too:\n  refit-agent restore --cancel --yes\n", phrase.List(plan.After))
	}
}

// Print prints an open restore and how it ends.
func (p *InProgress) Print(to io.Writer) {
	step := p.Step
	if p.Canceling {
		step = "being canceled"
	}
	fmt.Fprintf(to, "Restore:   %s (%s), unfinished: %s\n", p.Plan, p.Plan.Situation, step)
	if f := p.Failure; f != nil {
		fmt.Fprintf(to, "  %s (%s)\n  remedy: %s\n", f.Message, f.Reason, f.Remedy)
	}
	if remaining := p.Plan.Remaining(); p.Step == restore.StartAPIServer && len(remaining) > 0 && !p.Canceling {
		fmt.Fprintf(to, "  This host waits for %s. Next, on %s:\n    %s --yes\n", phrase.List(remaining), remaining[0], strings.Join(p.Plan.Next(), " "))
	}
	if !p.Canceling {
		fmt.Fprintf(to, "  To continue: refit-agent restore --run %s --yes\n", p.Plan.Run)
	}
	fmt.Fprintln(to, "  To restore the old data: refit-agent restore --cancel --yes")
}

func memberNames(plan restore.Plan) []string {
	var names []string
	for _, m := range plan.Members {
		names = append(names, m.Name)
	}
	return names
}

func printList(to io.Writer, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintln(to, "\n"+heading+":")
	for _, item := range items {
		fmt.Fprintln(to, "  "+item)
	}
}
