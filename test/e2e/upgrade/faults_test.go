//go:build e2e

package upgrade

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestUpgradeFaults injects faults into an operation, each with its number in the list of faults.
// It checks what a user sees: the status of the operation, the output of `refit explain` for the
// node, and that the operation continues once the cause is gone. The control plane is upgraded
// first, so that faults of workers follow without delay.
func TestUpgradeFaults(t *testing.T) {
	c := newTrio(t, "upfault")
	play(t, c, []chapter{
		{"F52_a_bare_pod_that_nobody_waived_is_found_before", bareFoundBefore},
		{"F54_a_webhook_that_nobody_answers_for_guards_the_rights_of_the_system", webhookGuardsSystem},
		{"F54_a_webhook_denies_the_rights_of_the_system", webhookDenies},
		{"F30_a_node_is_ready_but_no_pod_gets_a_network", networkBroken},
		{"F53_a_webhook_lets_no_pod_be_made", webhookRefuses},
		{"F50_two_budgets_of_one_pod", twoBudgets},
		{"F51_a_pod_does_not_end", stuckFinalizer},
		{"F52_a_bare_pod_comes_in_the_middle", bareComes},
		{"F55_somebody_uncordons", uncordoned},
		{"F10_a_node_is_not_ready", notReady},
		{"F31_the_agent_is_dead", agentDead},
		{"F10_F11_a_node_is_removed_and_joins_again", joinsAgain},
		{"F4_the_API_is_away_while_a_worker_changes", apiAway},
		{"F49_a_budget_never_allows_until_it_does", budgetNeverAllows},
	})
	c.isAt(t, c.r)
}

// explains verifies that the output of `refit explain` for a node contains these words.
func (c *trio) explains(t *testing.T, n *cluster.Node, words ...string) {
	t.Helper()
	text := c.RunRefit(t, "explain", n.Name())
	t.Log(text)
	for _, word := range words {
		must(t, mentions(text, word))
	}
}

// ends aborts an operation and verifies that it leaves nothing behind.
func (c *trio) ends(t *testing.T, o *operation) {
	t.Helper()
	c.RunRefit(t, "abort", o.name, "--yes")
	o.reaches(t, refitv1alpha1.PhaseAborted)
	c.NoCordonLeft(t)
}
