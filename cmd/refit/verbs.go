package main

import (
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
		short: "Pause an upgrade",
		long: `Pause an upgrade. Nothing further starts: a host that is being changed completes its upgrade, and a
node that is only being drained is uncordoned and released. The upgrade waits until you resume it.`,
		example: []string{"# Pause the active upgrade", "pause", "# Pause an upgrade by name", "pause to-v1-36-3"},
		decide:  verbs.Pause,
	})
}

func newResumeCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:    "resume",
		short:   "Resume a paused upgrade",
		long:    `Resume a paused upgrade where it stopped.`,
		example: []string{"# Resume the active upgrade", "resume", "# Resume an upgrade by name", "resume to-v1-36-3"},
		decide:  verbs.Resume,
	})
}

func newRetryCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "retry",
		short: "Retry failed nodes and components, and skipped nodes",
		long: `Retry the nodes and the component of an upgrade that failed, and skipped nodes, after you fixed the
cause. A failed node continues at the step that failed, a node that could not be drained is drained
again, and a component that was rolled back starts again. Anything else that stalls an upgrade, such
as a preflight finding, is checked continuously and needs no retry.`,
		example: []string{"# Retry what failed in the active upgrade", "retry", "# Retry an upgrade by name", "retry to-v1-36-3"},
		decide:  verbs.Retry,
	})
}

func newAbortCommand(a *app) *cobra.Command {
	return a.newVerb(verb{
		name:  "abort",
		short: "Abort an upgrade",
		long: `Abort an upgrade. Active nodes reach a safe state and are uncordoned, and nothing further
starts. Upgraded nodes keep the new version; another upgrade to the same version continues with the
rest. An abort cannot be undone. To stop for a while, use pause.`,
		example: []string{"# Abort the active upgrade", "abort", "# Abort an upgrade by name", "abort to-v1-36-3"},
		decide:  verbs.Abort,
		question: func(o *cliv1alpha1.Operation) string {
			return fmt.Sprintf("Abort %s, with %d of %d nodes upgraded? An abort cannot be undone.", o.Name, o.Nodes.Done, o.Nodes.Total)
		},
	})
}

func newApproveCommand(a *app) *cobra.Command {
	var hash string
	return a.newVerb(verb{
		name:  "approve",
		short: "Approve the plan of an upgrade",
		long: `Approve the plan of an upgrade by its hash, and print a summary of it; "plan" shows the whole plan.
With --plan, the command approves only the plan with that hash, so it fails if the plan has changed
since you reviewed it. It requires the permission to approve (the verb approve on clusterupgrades).`,
		example: []string{"# Approve the plan of the active upgrade", "approve", "# Approve the plan of an upgrade by name", "approve to-v1-36-3"},
		decide: func(o verbs.Operation) (verbs.Decision, error) {
			if hash != "" && !request.IsPlanHash(hash) {
				return verbs.Decision{}, exit.Usagef("--plan: %q is not the hash of a plan, sha256: and 64 hexadecimal digits", hash)
			}
			return verbs.Approve(o, hash)
		},
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&hash, "plan", "", "approve only the plan with this `HASH`")
		},
	})
}
