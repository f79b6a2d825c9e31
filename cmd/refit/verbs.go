package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/request"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

func newPauseCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "pause",
		short: "Let an upgrade begin nothing more until it is resumed",
		long: `Lets an upgrade begin nothing more. A host that is being changed comes to the end of that by
itself; a node that was only being emptied is uncordoned and given back. Then everything waits until
it is resumed.`,
		decide: verbs.Pause,
	})
}

func newResumeCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:   "resume",
		short:  "Let an upgrade that was paused go on",
		long:   `Lets an upgrade that was paused go on where it was.`,
		decide: verbs.Resume,
	})
}

func newRetryCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "retry",
		short: "Let failed and skipped nodes try again",
		long: `Lets an upgrade that stopped at a failure try again, after its cause was mended: failed nodes go on
at the step that failed, and nodes that could not be emptied are tried once more. What else stops
an upgrade, such as a preflight finding, is looked at again all the time and needs no retry.`,
		decide: verbs.Retry,
	})
}

func newAbortCommand(a *app) *cobra.Command {
	var yes bool
	return a.newVerb(verb{
		name:  "abort",
		short: "End an upgrade for good, with its nodes in a safe state",
		long: `Ends an upgrade for good: the nodes at work are brought to a safe state and uncordoned, and
nothing more is begun. Nodes that are at the new version stay there; another upgrade to the same
version goes on with the rest. It cannot be taken back. To stop for a while, there is pause.`,
		decide: verbs.Abort,
		confirm: func(ctx context.Context, o *cliv1alpha1.Operation) error {
			if yes {
				return nil
			}
			return a.Confirm(ctx, fmt.Sprintf("Abort %s, with %d of %d nodes done? It cannot be taken back.", o.Name, o.Nodes.Done, o.Nodes.Total))
		},
		flags: func(cmd *cobra.Command) { cmd.Flags().BoolVar(&yes, "yes", false, "do not ask") },
	})
}

func newApproveCommand(a *app) *cobra.Command {
	var hash string
	return a.newVerb(verb{
		name:  "approve",
		short: "Approve the plan of an upgrade that waits for it",
		long: `Approves the plan of an upgrade, by its hash, and tells it in short; the command plan shows it
whole. With --plan only that very plan is approved: who read a plan and passes its hash on can be
sure that it is still the same. It needs the right to approve (the verb approve on clusterupgrades).`,
		decide: func(o verbs.Operation) (verbs.Decision, error) {
			if hash != "" && !request.IsPlanHash(hash) {
				return verbs.Decision{}, exit.Usagef("--plan: %q is no hash of a plan, which is sha256: and 64 digits", hash)
			}
			return verbs.Approve(o, hash)
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&hash, "plan", "", "approve only the plan with this `HASH`")
		},
	})
}
